import Core
import HTTPServer
import Service

/// The key that a request came with.
enum PresentedKey: Sendable {
    /// One that memory knew when the request came.
    case known(UsedKey)
    /// The digest of one that the database may know.
    case other([UInt8])

    /// Throws when there is none, or none that can be told.
    init(_ request: borrowing Request, _ keys: KeyRing) throws(Problem) {
        // The connection's client most likely has the key that it had before.
        if let used = request.memo?.content as? UsedKey, used.isCurrent(in: keys),
            request.hasOne("Authorization", used.presented)
        {
            self = .known(used)
            return
        }
        guard let authorization = try request.single("Authorization"),
            let key = bearerKey(in: authorization)
        else { throw .noKey }
        if let used = keys.remembered(as: authorization) {
            self = .known(used)
        } else {
            let digest = keys.digest(of: key)
            self = keys.remember(digest, as: authorization).map(Self.known) ?? .other(digest)
        }
        if let known { request.memo?.content = known }
    }

    var known: UsedKey? { if case .known(let used) = self { used } else { nil } }
}

/// What follows `Bearer `, which may be written in any case, without the blanks around it.
private func bearerKey(in authorization: String) -> String? {
    let (bytes, scheme) = (authorization.utf8.span, "bearer ".utf8.span)
    guard bytes.count > scheme.count else { return nil }
    for place in scheme.indices where bytes[place] | 0x20 != scheme[place] { return nil }
    var (start, end) = (scheme.count, bytes.count)
    while start < end, bytes[start].isBlank { start += 1 }
    while start < end, bytes[end - 1].isBlank { end -= 1 }
    guard start < end, let key = try? UTF8Span(validating: bytes.extracting(start..<end)) else {
        return nil
    }
    return String(copying: key)
}

extension UInt8 {
    fileprivate var isBlank: Bool { self == UInt8(ascii: " ") || self == UInt8(ascii: "\t") }
}
