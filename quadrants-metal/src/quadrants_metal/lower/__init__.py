"""QIR of the device level to the Metal Shading Language."""
