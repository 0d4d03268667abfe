"""ROCm's libraries as this package uses them: HIP, and the linker of comgr."""
