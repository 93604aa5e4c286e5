import Foundation
import Glibc
import Testing

/// An nginx server with TLS and HTTP/2. Its certificate comes from an authority that only the test trusts.
package final class SecureServer {
    package enum Fault: String, Sendable, CaseIterable {
        case otherHost, expired, unknownAuthority
    }

    package let port: UInt16
    private let folder: ScratchFolder
    private let process: ChildProcess

    /// Answers with the protocol, the TLS version and the connection's number. Below `/elsewhere`,
    /// answers with a redirect.
    package init(_ fault: Fault? = nil, isOld: Bool = false) throws {
        folder = try ScratchFolder()
        try SecureServer.makeCertificates(in: folder.path, fault)
        port = try freePort()
        let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map {
            "\($0)_temp_path \($0);"
        }.joined(separator: " ")
        // The distribution's OpenSSL allows old versions only at its lowest security level.
        let versions =
            isOld
            ? "ssl_protocols TLSv1.1; ssl_ciphers ALL:@SECLEVEL=0;"
            : "ssl_protocols TLSv1.2 TLSv1.3;"
        let file = try folder.write(
            """
            daemon off; master_process off; pid nginx.pid; events {}
            http {
                access_log off; \(temporary)
                server {
                    listen 127.0.0.1:\(port) ssl http2;
                    ssl_certificate server.pem; ssl_certificate_key server.key; \(versions)
                    location / { return 200 "$server_protocol $ssl_protocol $connection"; }
                    location /elsewhere { return 302 https://localhost:\(port)/; }
                }
            }
            """, to: "nginx.conf")
        let program = try #require(
            ["/usr/sbin/nginx", "/usr/bin/nginx"].first { (path: String) in access(path, X_OK) == 0
            },
            "there is no nginx; install it: scripts/install-packages nginx")
        let errors = folder.file("errors")
        process = try ChildProcess(
            program, ["-p", folder.path, "-c", file, "-e", "stderr"],
            environment: ["PATH": "/usr/bin:/bin"], output: folder.file("output"), errors: errors)
        try #require(
            eventually(within: 20_000) { (try? RawClient(undocumented: port)) != nil },
            "nginx does not listen: \((try? String(contentsOfFile: errors, encoding: .utf8)) ?? "")"
        )
    }

    package var authority: String { folder.file("authority.pem") }

    package var url: String { "https://localhost:\(port)" }

    private static func makeCertificates(in folder: String, _ fault: Fault?) throws {
        let names = fault == .otherHost ? "DNS:store.invalid" : "DNS:localhost"
        let signer = fault == .unknownAuthority ? "stranger" : "authority"
        let script = """
            set -e; cd "$1"
            for name in authority stranger; do
                openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 \\
                    -subj "/CN=$name" -keyout $name.key -out $name.pem
            done
            openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes \\
                -subj /CN=server -keyout server.key -out server.csr
            echo "subjectAltName=\(names)" > extensions
            openssl x509 -req -in server.csr -CA \(signer).pem -CAkey \(signer).key \\
                -CAcreateserial -days \(fault == .expired ? -1 : 2) -extfile extensions -out server.pem
            """
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", script, "sh", folder]
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0, "openssl made no certificates")
    }
}
