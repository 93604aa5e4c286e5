import Core
import HTTPServer
import Service

/// The key that a request came with.
enum PresentedKey: Sendable {
    /// One that memory knows.
    case known(UsedKey)
    /// One that the database may know.
    case other(String)

    /// The connection's client most likely has the key that it had before.
    init(_ request: borrowing Request, _ keys: KeyRing) throws(Problem) {
        if let used = request.memo?.content as? UsedKey, used.isCurrent(in: keys),
            request.hasOne("Authorization", used.presented)
        {
            self = .known(used)
            return
        }
        guard let authorization = try request.single("Authorization"),
            let key = bearerKey(in: authorization)
        else { throw .noKey }
        if let used = keys.remembered(as: authorization, key) {
            request.memo?.content = used
            self = .known(used)
        } else {
            self = .other(key)
        }
    }

    var known: UsedKey? { if case .known(let used) = self { used } else { nil } }
}

/// What follows `Bearer `, which may be written in any case.
private func bearerKey(in authorization: String) -> String? {
    let (bytes, scheme) = (authorization.utf8.span, "bearer ".utf8.span)
    guard bytes.count > scheme.count else { return nil }
    for place in scheme.indices where bytes[place] | 0x20 != scheme[place] { return nil }
    guard let key = try? UTF8Span(validating: bytes.extracting(scheme.count...)) else { return nil }
    return String(copying: key)
}

extension Request {
    /// The header's one value: to guess which of two is meant could swallow a write.
    func single(_ name: StaticString) throws(Problem) -> String? {
        do throws(HeaderError) {
            return try header(name)
        } catch {
            switch error {
            case .repeated:
                throw .invalid("\(name)", "\"\(name)\" is sent twice; send it once.")
            case .notUTF8: throw .invalid("\(name)", "\"\(name)\" takes printable UTF-8.")
            }
        }
    }
}
