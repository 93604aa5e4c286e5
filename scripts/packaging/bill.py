"""Lists the packages of a system, as SPDX 2.3: bill.py FOLDER VERSION COMMIT"""

import datetime
import hashlib
import json
import os
import subprocess
import sys


def packages(folder):
    form = "${Package}\t${Version}\t${Architecture}\t${source:Package}\n"
    listed = subprocess.run(
        ["dpkg-query", "--admindir", f"{folder}/var/lib/dpkg", "--show", "--showformat", form],
        check=True, capture_output=True, text=True).stdout
    return [line.split("\t") for line in sorted(listed.splitlines())]


def item(name, version, **more):
    return {
        "SPDXID": "SPDXRef-" + "".join(c if c.isalnum() or c in ".-" else "-" for c in name),
        "name": name, "versionInfo": version, "downloadLocation": "NOASSERTION", "filesAnalyzed": False, **more,
    }


def program(folder, name, version):
    with open(f"{folder}/usr/bin/{name}", "rb") as file:
        checksum = hashlib.sha256(file.read()).hexdigest()
    return item(name, version, checksums=[{"algorithm": "SHA256", "checksumValue": checksum}])


def main():
    folder, version, commit = sys.argv[1:]
    instant = datetime.datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), datetime.timezone.utc)
    items = [program(folder, "deed", version), program(folder, "deed-practice", version)]
    for name, number, architecture, source in packages(folder):
        locator = f"pkg:deb/{name}@{number}?arch={architecture}"
        reference = {"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": locator}
        items.append(item(name, number, externalRefs=[reference], sourceInfo=f"made of the source package {source}"))
    json.dump(
        {
            "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
            "name": f"deed-{version}", "documentNamespace": f"urn:deed:{version}:{commit}",
            "creationInfo": {"created": instant.strftime("%Y-%m-%dT%H:%M:%SZ"), "creators": ["Tool: scripts/package"]},
            "packages": items,
            "relationships": [
                {"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": one["SPDXID"]}
                for one in items
            ],
        },
        sys.stdout, indent=1)
    print()


main()
