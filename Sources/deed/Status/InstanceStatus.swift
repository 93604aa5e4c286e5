import Assembly
import Core
import Glibc
import JSON
import Ledger

extension StatusPart {
    private static let month: Int64 = 30 * 86_400

    static func instances(_ instances: [SeenInstance]) -> StatusPart {
        var lines: [StatusLine] = []
        var members: [JSON] = []
        var unreadable: [String: JSON] = [:]
        var ends: [JSON] = []
        for seen in instances {
            guard let words = InstanceWords(seen) else { continue }
            lines += seen.lines(words)
            members.append(seen.json(words))
            for stream in words.unreadable { unreadable[stream.text] = stream }
            if words.unread > 0, seen.isAlive {
                lines.append(
                    StatusLine(
                        "\(seen.name) recently could not read \(words.unread) streams",
                        remedy: "deed status --json names them; deed audit"))
            }
            guard let end = words.certificateEnds, seen.isAlive else { continue }
            let left = end - systemClock().milliseconds / 1000
            if left > month { continue }
            lines.append(
                StatusLine(
                    "its certificate \(words.certificate ?? "") expires in \(span(left * 1000))",
                    remedy: "renew it; the service then reloads it by itself"))
            ends.append([
                "what": "certificate", "file": .optional(words.certificate),
                "ends_at": .string(Instant(milliseconds: end * 1000).text),
            ])
        }
        if lines.isEmpty {
            lines = [StatusLine("no instance has reported within the last day")]
        }
        return StatusPart(
            "instances", lines,
            [
                ("instances", .array(members)),
                (
                    "unreadable",
                    .array(unreadable.sorted { $0.key < $1.key }.map(\.value))
                ), ("ending", .array(ends)),
            ])
    }
}

extension SeenInstance {
    fileprivate func lines(_ words: InstanceWords) -> [StatusLine] {
        let head = "\(name) \(words.version) on \(words.host) at \(words.listen)"
        if !isAlive {
            return [
                StatusLine(
                    "\(head) has been silent for \(span(seenAgo))",
                    remedy:
                        "start it again; if it is gone for good, this line disappears within a day")
            ]
        }
        if !words.reasons.isEmpty {
            return [StatusLine("\(head) is not ready: \(words.reasons[0])", remedy: "deed doctor")]
        }
        let lag = words.lag > 1000 ? ", lag \(span(words.lag))" : ""
        return [StatusLine("\(head), up \(span(startedAgo)), ready\(lag)")]
    }

    fileprivate func json(_ words: InstanceWords) -> JSON {
        [
            "instance": .string(name), "version": .string(words.version),
            "host": .string(words.host), "listen": .string(words.listen),
            "operations_listen": .optional(words.operations),
            "seen_milliseconds_ago": .integer(seenAgo),
            "started_milliseconds_ago": .integer(startedAgo), "alive": .bool(isAlive),
            "ready": .bool(isAlive && words.reasons.isEmpty),
            "reasons": .array(words.reasons.map(JSON.string)),
            "lag_milliseconds": .integer(words.lag), "unread_streams": .integer(words.unread),
        ]
    }
}

/// Returns the number of free bytes on the database's disk, or `nil` if the database is on another machine.
func freeBytes(in database: Database, _ folder: String?) -> Int64? {
    (database.isPrivate ? database.dataFolder : folder).flatMap(freeBytes(in:))
}
