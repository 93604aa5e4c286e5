internal import Core
internal import JSON

// In verifyReceipt replies, numbers, booleans and dates are mostly strings, an empty string stands for a missing value,
// and a list with one element may lack its brackets.

extension Members {
    func looseText(_ name: String) throws(EvidenceRefusal) -> String? {
        switch object[name] {
        case nil, .null, .string(""): return nil
        case .string: return try text(name)
        case .integer(let value): return String(value)
        default: throw .invalidMember(name)
        }
    }

    func looseInteger(_ name: String) throws(EvidenceRefusal) -> Int64? {
        guard let text = try looseText(name) else { return nil }
        guard let value = Int64(text) else { throw .invalidMember(name) }
        return value
    }

    /// Returns an enumeration's value. A string that represents a number becomes that number.
    func looseWord(_ name: String) throws(EvidenceRefusal) -> StoreWord? {
        try looseText(name).map { text in Int64(text).map(StoreWord.number) ?? .text(text) }
    }

    func looseBool(_ name: String) throws(EvidenceRefusal) -> Bool? {
        if case .bool(let value) = object[name] { return value }
        switch try looseText(name) {
        case nil: return nil
        case "1", "true": return true
        case "0", "false": return false
        default: throw .invalidMember(name)
        }
    }

    /// Returns a date, taken from its milliseconds if the reply states them, otherwise from its text.
    func looseInstant(_ name: String) throws(EvidenceRefusal) -> Instant? {
        if let milliseconds = try looseInteger(name + "_ms") {
            return try Instant(milliseconds: milliseconds).stated(by: name + "_ms")
        }
        guard let text = try looseText(name) else { return nil }
        // Replies for iOS 6 receipts have milliseconds where other replies have text.
        if let milliseconds = Int64(text) {
            return try Instant(milliseconds: milliseconds).stated(by: name)
        }
        let parts = text.split(separator: " ")
        guard parts.count == 3, parts[2] == "Etc/GMT",
            let instant = Instant(text: "\(parts[0])T\(parts[1])Z")
        else { throw .invalidMember(name) }
        return try instant.stated(by: name)
    }

    func list(_ name: String) throws(EvidenceRefusal) -> [Members] {
        switch object[name] {
        case nil, .null: return []
        case .object(let object): return [Members(object)]
        case .array(let elements):
            var list: [Members] = []
            for element in elements {
                guard let object = element.object else { throw .invalidMember(name) }
                list.append(Members(object))
            }
            return list
        default: throw .invalidMember(name)
        }
    }
}
