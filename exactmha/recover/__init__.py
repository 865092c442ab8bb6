"""The algorithm of the paper: design → sample → separate → match → assemble."""
