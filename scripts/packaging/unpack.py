"""Unpacks an OCI archive of one layer and prints its configuration: unpack.py ARCHIVE FOLDER

Like a container runtime, compares every blob with its digest and size.
"""

import gzip
import hashlib
import json
import os
import subprocess
import sys
import tarfile


def main():
    archive, folder = sys.argv[1:]
    with tarfile.open(archive) as file:
        def read(name):
            return file.extractfile(name).read()

        def blob(descriptor):
            data = read("blobs/" + descriptor["digest"].replace(":", "/"))
            if "sha256:" + hashlib.sha256(data).hexdigest() != descriptor["digest"] or len(data) != descriptor["size"]:
                sys.exit(f"{descriptor['digest']} differs from its descriptor")
            return data

        if json.loads(read("oci-layout"))["imageLayoutVersion"] != "1.0.0":
            sys.exit("oci-layout is of another version")
        manifest = json.loads(blob(json.loads(read("index.json"))["manifests"][0]))
        config = json.loads(blob(manifest["config"]))
        (layer,) = manifest["layers"]
        plain = gzip.decompress(blob(layer))
        if config["rootfs"]["diff_ids"] != ["sha256:" + hashlib.sha256(plain).hexdigest()]:
            sys.exit("the layer is not the one that the configuration names")
    os.makedirs(folder)
    subprocess.run(["tar", "--extract", "--same-owner", "--preserve-permissions", "--directory", folder],
                   input=plain, check=True)
    json.dump(config, sys.stdout)


main()
