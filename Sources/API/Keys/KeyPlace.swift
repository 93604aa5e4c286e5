import HTTPServer

/// The place of the key in calls to a surface.
enum KeyPlace: Sendable {
    /// `Authorization: Bearer <key>`
    case bearer
    /// A cookie. Browsers also send cookies with requests that other sites cause, so a cookie permits changes only if
    /// the browser says that the call comes from Deed's own pages.
    case cookie(String)

    var header: StaticString {
        switch self {
        case .bearer: "Authorization"
        case .cookie: "Cookie"
        }
    }

    /// Returns whether the key in the request is acceptable here.
    func counts(in request: borrowing Request) throws(Problem) -> Bool {
        guard case .cookie = self, !request.isGet else { return true }
        guard let site = try request.single("Sec-Fetch-Site") else { return false }
        return site == "same-origin"
    }

    func key(in value: String) -> String? {
        switch self {
        case .bearer: bearerKey(in: value)
        case .cookie(let name): cookieValue(name, in: value)
        }
    }

    /// Returns the answer to a call without a key. `value` is the value of the header that should contain the key,
    /// if the request has that header.
    func missing(in value: String? = nil) -> Problem {
        switch self {
        case .bearer: value.map(isBearerAlone) == true ? .emptyBearerKey : .noBearerKey
        case .cookie: .noKey("Sign in; your browser then sends the key automatically.")
        }
    }
}

/// Returns the text after `Bearer ` (in upper or lower case), trimmed.
private func bearerKey(in authorization: String) -> String? {
    let (bytes, scheme) = (authorization.utf8.span, "bearer ".utf8.span)
    guard bytes.count > scheme.count else { return nil }
    for place in scheme.indices where bytes[place] | 0x20 != scheme[place] { return nil }
    return trimmed(bytes.extracting(scheme.count...))
}

/// Returns whether the header consists of `Bearer` alone.
private func isBearerAlone(_ authorization: String) -> Bool {
    trimmed(authorization.utf8.span)?.lowercased() == "bearer"
}

/// Returns the cookie's value, or `nil` if the cookie occurs twice, because one of the two may have been planted.
func cookieValue(_ name: String, in value: String) -> String? {
    var found: [String] = []
    for pair in value.split(separator: ";") {
        let text = pair.drop { $0 == " " || $0 == "\t" }
        guard let mark = text.firstIndex(of: "="), text[..<mark] == name else { continue }
        found.append(String(text[text.index(after: mark)...]))
    }
    return found.count == 1 ? found.first.flatMap { trimmed($0.utf8.span) } : nil
}

/// Returns the trimmed text, or `nil` if nothing is left.
private func trimmed(_ bytes: Span<UInt8>) -> String? {
    var (start, end) = (0, bytes.count)
    while start < end, bytes[start].isBlank { start += 1 }
    while start < end, bytes[end - 1].isBlank { end -= 1 }
    guard start < end, let text = try? UTF8Span(validating: bytes.extracting(start..<end)) else {
        return nil
    }
    return String(copying: text)
}

extension UInt8 {
    fileprivate var isBlank: Bool { self == UInt8(ascii: " ") || self == UInt8(ascii: "\t") }
}
