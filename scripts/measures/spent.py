"""Runs a command, and prints how many seconds it took and how many megabytes it needed at most.

usage: spent.py COMMAND [ARGUMENT ...]"""
import resource
import subprocess
import sys
import time

began = time.monotonic()
code = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode
most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
print(f"{time.monotonic() - began:.2f} {most:.1f}")
sys.exit(code)
