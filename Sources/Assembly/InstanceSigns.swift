import API
import Answers
import Core
import Foundation
import Glibc
import HTTPServer
import JSON
import Jobs
import Ledger
import Service
import Threading

/// An instance's report about itself.
struct InstanceSigns: Sendable {
    /// The maximum number of unreadable streams in the report.
    private static let streamLimit = 20

    let name: String
    private let settings: ServiceSettings
    private let parts: Parts
    private let servers = Monitor<Servers?>(nil)

    init(_ settings: ServiceSettings, _ parts: Parts) {
        self.settings = settings
        self.parts = parts
        let bytes = parts.live.useCases.ports.secrets.randomBytes(6)
        name = "i_" + bytes.map { String(UInt16(256) + UInt16($0), radix: 16).dropFirst() }.joined()
    }

    func begin(_ servers: Servers) { self.servers.change { $0 = servers } }

    /// Returns the names of noteworthy events since the last call.
    func news() -> [String] {
        let noted = parts.submissions.news.take()
        return noted.apps.map { NoteName.news(of: $0) }
            + noted.products.flatMap { project, products in
                products.map { NoteName.bought($0, in: project) }
            }
    }

    /// Returns the report; `nil` before the servers run. `obstacles` lists the same obstacles as
    /// `/readyz`.
    func says(_ obstacles: [String]) -> JSON? {
        guard let servers = servers.change(wake: .none, { $0 }) else { return nil }
        let unread = parts.live.ledger.unreadStreams
        let listen = settings.server.listen
        return [
            "version": .string(settings.version),
            "format": .integer(LogFormat.own.number), "host": .string(InstanceSigns.host),
            "process": .integer(Int(getpid())),
            "listen": .string(InstanceSigns.address(listen, servers.port)),
            "operations_listen": .optional(
                settings.operations.map {
                    InstanceSigns.address($0.listen, servers.operationsPort ?? 0)
                }),
            "tls_certificate": .optional(settings.server.tls?.certificate),
            "tls_ends": servers.certificateEnds.map { .integer(Int($0)) } ?? .null,
            "reasons": .array(obstacles.prefix(8).map { .string(String($0.prefix(500))) }),
            "lag": .integer(parts.answers.lag),
            "reconcile_at": .optional(settings.reconcileAtText),
            "unread": .integer(unread.count),
            "unreadable": .array(
                unread.prefix(InstanceSigns.streamLimit).map { subject, reason in
                    var words = subject.words
                    words.append("reason", .string(String(reason.prefix(300))))
                    return .object(words)
                }),
        ]
    }

    /// Returns the address with the port that the server actually got.
    private static func address(_ listen: String, _ port: UInt16) -> String {
        let colon = listen.lastIndex(of: ":") ?? listen.endIndex
        return "\(listen[..<colon]):\(port)"
    }

    private static let host = machineName()
}

package func machineName() -> String {
    var name = [CChar](repeating: 0, count: 256)
    gethostname(&name, 255)
    return String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
}
