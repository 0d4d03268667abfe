"""Metal on this machine: the framework, devices and their memory, and launches."""
