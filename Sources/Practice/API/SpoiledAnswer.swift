internal import Crypto
internal import HTTPServer
internal import JSON

extension ServerAPI {
    /// Returns the answer with a wrong signature on one of its statements. `which` selects the statement.
    func spoil(_ answer: Response, _ which: UInt64) -> Response {
        guard let body = try? JSON.read(answer.body) else { return answer }
        let count = body.statementCount
        if count == 0 { return answer }
        var spoiled = answer
        var left = Int(which % UInt64(count))
        spoiled.body = store.authority.spoil(body, &left).bytes
        return spoiled
    }
}

extension Authority {
    /// Skips `left` statements, gives the next one a wrong signature, and then sets `left` to -1. A
    /// statement is counted before the statements inside it.
    fileprivate func spoil(_ json: JSON, _ left: inout Int) -> JSON {
        if left < 0 { return json }
        switch json {
        case .array(let elements): return .array(elements.map { spoil($0, &left) })
        case .object(let object):
            var changed = JSONObject(capacity: object.members.count)
            for member in object.members {
                changed.append(member.name, spoil(member.value, &left))
            }
            return .object(changed)
        default:
            guard let payload = json.payload else { return json }
            left -= 1
            if left < 0 { return .string(spoil(payload)) }
            let inner = spoil(payload, &left)
            return left < 0 ? .string(sign(inner)) : json
        }
    }
}

extension JSON {
    /// The payload, if the value is a signed statement.
    fileprivate var payload: JSON? {
        guard let parts = string?.split(separator: "."), parts.count == 3,
            parts[0].hasPrefix("eyJ"), let bytes = Base64.url.decode(Array(parts[1].utf8))
        else { return nil }
        return try? JSON.read(bytes)
    }

    /// The number of statements in the value, including nested ones.
    fileprivate var statementCount: Int {
        switch self {
        case .array(let elements): elements.reduce(0) { $0 + $1.statementCount }
        case .object(let object): object.members.reduce(0) { $0 + $1.value.statementCount }
        default: payload.map { 1 + $0.statementCount } ?? 0
        }
    }
}
