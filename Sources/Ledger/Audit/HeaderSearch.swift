import Core
import Crypto

/// Finds which column of an event was changed, when the change was of one byte: the chain that was
/// recorded proves what stood there.
struct HeaderSearch {
    let previous: [UInt8]
    let row: LoggedRow

    /// The column with what it held; `nil` when more was changed than one byte, or the environment.
    func changed() -> (column: String, expected: String, found: String)? {
        for environment in Environment.allCases {
            var header = row.header
            header.environment = environment.rawValue
            let chain = ChainLink.chain(after: previous, header, digest: row.digest)
            if chain.bytes == row.chain {
                return ("environment", quoted(header.environment), quoted(row.header.environment))
            }
        }
        for (column, path) in HeaderSearch.texts {
            let found = row.header[keyPath: path]
            if let expected = original(
                of: Array(found.utf8),
                { header, bytes in
                    guard let text = String(validating: bytes, as: UTF8.self) else { return false }
                    header[keyPath: path] = text
                    return true
                })
            {
                return (column, quoted(String(decoding: expected, as: UTF8.self)), quoted(found))
            }
        }
        for (column, path) in HeaderSearch.numbers {
            let found = row.header[keyPath: path]
            if let expected = original(
                of: HeaderSearch.bytes(of: found),
                { header, bytes in
                    header[keyPath: path] = HeaderSearch.number(bytes)
                    return true
                })
            {
                return (column, "\(HeaderSearch.number(expected))", "\(found)")
            }
        }
        for (column, found) in [
            ("cause_digest", row.header.causeDigest), ("evidence", row.header.evidence ?? []),
        ] {
            if let expected = original(
                of: found,
                { header, bytes in
                    if column == "evidence" {
                        header.evidence = bytes
                    } else {
                        header.causeDigest = bytes
                    }
                    return true
                })
            {
                return (column, expected.hex, found.hex)
            }
        }
        return nil
    }

    /// Tries every other value of every byte.
    private func original(
        of found: [UInt8], _ set: (inout HeaderColumns, [UInt8]) -> Bool
    ) -> [UInt8]? {
        var tried = found
        var header = row.header
        for place in found.indices {
            for value in UInt8.min...UInt8.max where value != found[place] {
                tried[place] = value
                guard set(&header, tried) else { continue }
                let chain = ChainLink.chain(after: previous, header, digest: row.digest)
                if chain.bytes == row.chain { return tried }
            }
            tried[place] = found[place]
        }
        return nil
    }

    private static let texts: [(String, any WritableKeyPath<HeaderColumns, String> & Sendable)] = [
        ("project", \.project), ("environment", \.environment), ("customer", \.customer),
        ("type", \.type), ("actor", \.actor), ("cause", \.cause),
    ]
    private static let numbers: [(String, any WritableKeyPath<HeaderColumns, Int64> & Sendable)] = [
        ("shard", \.shard), ("seq", \.sequence), ("version", \.version), ("format", \.format),
        ("occurred_at", \.occurredAt), ("recorded_at", \.recordedAt),
        ("cause_index", \.causeIndex), ("catalog_version", \.catalogVersion),
    ]

    private static func bytes(of number: Int64) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) }
    }

    private static func number(_ bytes: [UInt8]) -> Int64 {
        bytes.reduce(0) { $0 << 8 | Int64($1) }
    }
}

/// As a finding shows a text.
func quoted(_ text: String) -> String { "'\(text)'" }
