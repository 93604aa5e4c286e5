import Core
import HTTPServer
import Service

/// The way of the call that is made most: entitlements of now, for a key and a customer that memory
/// knows. It gives what the call's own route would give, with as little as possible in between; whatever
/// is not plain (a query, escapes, a condition) goes the usual way.
struct Shortcut: Sendable {
    static let pattern = "\(prefix){customer}\(suffix)"
    private static let prefix = "/v1/customers/"
    private static let suffix = "/entitlements"

    private let reads: CustomerReads
    private let keys: KeyRing
    private let measures: RouteMeasures

    init(_ reads: CustomerReads, keys: KeyRing, measures: RouteMeasures) {
        self.reads = reads
        self.keys = keys
        self.measures = measures
    }

    func answer(_ request: borrowing Request, since started: Int64) -> Response? {
        guard request.query == nil, request.method == "GET",
            let customer = request.withPath(Shortcut.customer),
            !request.has("Deed-After"), !request.has("If-None-Match"),
            let authorization = try? request.header("Authorization"),
            let key = keys.remembered(as: authorization, bearerKey(in: authorization))
        else { return nil }
        let stream = Stream(
            project: key.project, environment: .production, customer: customer)
        guard let answer = reads.remembered(stream, after: nil) else { return nil }
        return measures.record(answer.response(), since: started)
    }

    /// The customer whose name stands in the path without an escape.
    private static func customer(in path: Span<UInt8>) -> CustomerID? {
        let start = prefix.utf8.count
        let end = path.count - suffix.utf8.count
        guard end > start, path.has(prefix, at: 0), path.has(suffix, at: end) else { return nil }
        for place in start..<end
        where path[place] == UInt8(ascii: "/") || path[place] == UInt8(ascii: "%") {
            return nil
        }
        guard let name = try? UTF8Span(validating: path.extracting(start..<end)),
            let customer = try? CustomerID(String(copying: name)), !customer.isReserved
        else { return nil }
        return customer
    }
}

extension Span<UInt8> {
    /// Whether the text stands there; the caller knows that there is room for it.
    fileprivate func has(_ text: String, at place: Int) -> Bool {
        let text = text.utf8.span
        for offset in 0..<text.count where self[place + offset] != text[offset] { return false }
        return true
    }
}

/// What follows `Bearer `, which may be written in any case.
func bearerKey(in authorization: String) -> String? {
    var rest = authorization.utf8[...]
    for letter in "bearer ".utf8 {
        guard let first = rest.popFirst(), first | 0x20 == letter else { return nil }
    }
    return rest.isEmpty ? nil : String(Substring(rest))
}
