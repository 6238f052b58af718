"""That a session ran over the library that was meant: LIBRARY VERSION RESULTS.

The host's fabrics say which version it has, and each launch what it moved bytes with.
"""

import json
import sys

library, version, path = sys.argv[1:]
with open(path) as f:
    results = json.load(f)
has = results["environment"]["nodes"][0]["fabrics"][library]["version"]
transports = {launch["transport"] for case in results["cases"] for launch in case["launches"]}
print(f"weir run: {library} {has}: {', '.join(sorted(transports))}")
if has != version or not transports:
    sys.exit(f"{path}: {library} {version} was meant")
if library == "ucx" and any(f" {version} " not in t for t in transports):
    sys.exit(f"{path}: a launch moved its bytes with another UCX than {version}")
