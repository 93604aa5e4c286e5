import Foundation

/// A temporary folder that exists as long as the test.
package struct ScratchFolder: ~Copyable {
    package let path: String

    package init() throws {
        path = NSTemporaryDirectory() + "deed-test-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    package func file(_ name: String) -> String { path + "/" + name }

    package func write(_ text: String, to name: String) throws -> String {
        try text.write(toFile: file(name), atomically: true, encoding: .utf8)
        return file(name)
    }

    /// Returns a self-signed certificate for 127.0.0.1 and localhost, or for another name, and its key.
    package func makeCertificate(
        _ file: String, name: String? = nil
    ) throws -> (certificate: String, key: String) {
        let paths = (certificate: self.file(file + ".pem"), key: self.file(file + ".key"))
        let names = name.map { "DNS:\($0)" } ?? "IP:127.0.0.1,DNS:localhost"
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/openssl")
        process.arguments = [
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
            "-subj", "/CN=\(name ?? "localhost")", "-addext", "subjectAltName=\(names)",
            "-days", "2", "-out", paths.certificate, "-keyout", paths.key,
        ]
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        return paths
    }
}
