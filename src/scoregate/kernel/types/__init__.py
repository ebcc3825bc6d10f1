"""Records and values that the SDKs and the host share; no input, output or clock."""
