"""Writes an OCI archive of one layer to standard output: oci.py LAYER VERSION COMMIT ARCHITECTURE"""

import datetime
import gzip
import hashlib
import io
import json
import os
import sys
import tarfile


def digest(data):
    return "sha256:" + hashlib.sha256(data).hexdigest()


def main():
    layer_path, version, commit, architecture = sys.argv[1:]
    instant = int(os.environ["SOURCE_DATE_EPOCH"])
    created = datetime.datetime.fromtimestamp(instant, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    with open(layer_path, "rb") as file:
        plain = file.read()
    layer = gzip.compress(plain, mtime=0)
    blobs = {}

    def add(data, kind):
        blobs[digest(data)] = data
        return {"mediaType": kind, "digest": digest(data), "size": len(data)}

    def add_json(value, kind):
        return add(json.dumps(value, sort_keys=True, separators=(",", ":")).encode(), kind)

    config = {
        "architecture": architecture,
        "os": "linux",
        "created": created,
        "config": {
            "User": "deed",
            "Env": ["PATH=/usr/sbin:/usr/bin:/sbin:/bin", "DEED_LISTEN=0.0.0.0:8080", "DEED_DATA_DIR=/var/lib/deed"],
            "Entrypoint": ["deed"],
            "Cmd": ["serve"],
            "ExposedPorts": {"8080/tcp": {}},
            "Volumes": {"/var/lib/deed": {}},
            "StopSignal": "SIGTERM",
            "WorkingDir": "/",
            "Labels": {"org.opencontainers.image.version": version, "org.opencontainers.image.revision": commit},
            "Healthcheck": {
                "Test": ["CMD", "deed", "status", "--ready"],
                "Interval": 5_000_000_000,
                "Timeout": 5_000_000_000,
                "Retries": 5,
            },
        },
        "rootfs": {"type": "layers", "diff_ids": [digest(plain)]},
        "history": [{"created": created, "created_by": "scripts/package image"}],
    }
    manifest = {
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.manifest.v1+json",
        "config": add_json(config, "application/vnd.oci.image.config.v1+json"),
        "layers": [add(layer, "application/vnd.oci.image.layer.v1.tar+gzip")],
    }
    entry = add_json(manifest, manifest["mediaType"])
    entry["platform"] = {"architecture": architecture, "os": "linux"}
    entry["annotations"] = {"org.opencontainers.image.ref.name": version}
    files = {
        "oci-layout": b'{"imageLayoutVersion":"1.0.0"}',
        "index.json": json.dumps({"schemaVersion": 2, "manifests": [entry]}, sort_keys=True).encode(),
    }
    for name, data in blobs.items():
        files["blobs/" + name.replace(":", "/")] = data
    with tarfile.open(fileobj=sys.stdout.buffer, mode="w|", format=tarfile.PAX_FORMAT) as archive:
        for name in sorted(files):
            info = tarfile.TarInfo(name)
            info.size, info.mtime, info.mode = len(files[name]), instant, 0o644
            archive.addfile(info, io.BytesIO(files[name]))


main()
