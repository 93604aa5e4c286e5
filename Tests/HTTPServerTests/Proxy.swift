import Foundation
import Glibc
import TestSupport
import Testing

/// One of the distribution's proxies, run with the settings from `deploy/proxies`.
final class Proxy {
    enum Kind: String, CaseIterable, Sendable {
        case nginx, haproxy, caddy

        var file: String {
            switch self {
            case .nginx: "nginx.conf"
            case .haproxy: "haproxy.cfg"
            case .caddy: "Caddyfile"
            }
        }

        /// Returns the recommended settings with the changes that a test needs.
        fileprivate func settings(_ advised: String, listen: UInt16, server: UInt16) -> String {
            let text = advised.replacingOccurrences(
                of: "127.0.0.1:8080", with: "127.0.0.1:\(server)")
            let here = "127.0.0.1:\(listen)"
            switch self {
            case .nginx:
                let lines = text.split(separator: "\n").filter { !$0.contains("ssl_certificate") }
                let plain = lines.joined(separator: "\n").replacingOccurrences(
                    of: "listen 443 ssl", with: "listen \(here)")
                let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map {
                    "\($0)_temp_path \($0);"
                }.joined(separator: " ")
                return "daemon off; master_process off; pid nginx.pid;\n"
                    + "events { worker_connections 2048; }\n"
                    + "http { access_log off; \(temporary)\n\(plain)\n}\n"
            case .haproxy:
                return text.replacingOccurrences(
                    of: "bind :443 ssl crt /etc/ssl/deed/both.pem", with: "bind \(here)") + "\n"
            case .caddy:
                return text.replacingOccurrences(
                    of: "\n{\n", with: "\n{\n admin off\n auto_https off\n"
                ).replacingOccurrences(
                    of: "deed.example.com {", with: "http://:\(listen) {\n bind 127.0.0.1\n")
            }
        }

        fileprivate func arguments(_ file: String, _ folder: String) -> [String] {
            switch self {
            case .nginx: ["-p", folder, "-c", file, "-e", "stderr"]
            case .haproxy: ["-db", "-f", file]
            case .caddy: ["run", "--adapter", "caddyfile", "--config", file]
            }
        }
    }

    let port: UInt16
    private let folder: ScratchFolder
    private let process: ChildProcess

    init(_ kind: Kind, before server: UInt16) throws {
        let places = ["/usr/sbin", "/usr/bin", "/usr/local/bin"].map { "\($0)/\(kind.rawValue)" }
        let program = try #require(
            places.first { (path: String) in access(path, X_OK) == 0 },
            "there is no \(kind.rawValue); install it: scripts/install-packages \(kind.rawValue)")
        let advised = try Proxy.advised(kind.file)
        folder = try ScratchFolder()
        port = try freePort()
        let file = "\(folder.path)/\(kind.file)"
        try kind.settings(advised, listen: port, server: server)
            .write(toFile: file, atomically: true, encoding: .utf8)
        let errors = "\(folder.path)/errors"
        process = try ChildProcess(
            program, kind.arguments(file, folder.path),
            environment: ["HOME": folder.path, "PATH": "/usr/bin:/bin"],
            output: "\(folder.path)/output", errors: errors)
        // On a busy machine, a program may take long to start.
        let isUp = (0..<10).contains { _ in
            eventually { (try? RawClient(undocumented: port)) != nil }
        }
        try #require(
            isUp,
            "\(kind) does not listen: \((try? String(contentsOfFile: errors, encoding: .utf8)) ?? "")"
        )
    }

    /// Returns a file of `deploy/proxies`.
    static func advised(_ file: String) throws -> String {
        let root = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        return try String(
            contentsOf: root.appendingPathComponent("deploy/proxies/\(file)"), encoding: .utf8)
    }

    /// Returns the same request for a path under `/v1/`, because proxies pass only such paths on.
    static func moved(_ bytes: [UInt8]) -> [UInt8] {
        var moved: [UInt8] = []
        for place in bytes.indices {
            moved.append(bytes[place])
            let isTarget =
                bytes[place] == UInt8(ascii: "/") && place > 0
                && bytes[place - 1] == UInt8(ascii: " ")
            if isTarget { moved += Array("v1/".utf8) }
        }
        return moved
    }
}
