import Foundation
internal import JSON

/// Why the practice store refuses a request.
package enum PracticeError: Error, Equatable, CustomStringConvertible {
    /// The request itself is invalid.
    case invalid(String)
    /// The request is valid, but the store's state does not allow it.
    case refused(String)
    /// The file system or a library failed.
    case broken(String)

    package var description: String {
        switch self {
        case .invalid(let text), .refused(let text), .broken(let text): text
        }
    }
}

func quoted(_ text: String) -> String { "\"\(text)\"" }

/// Reads a value from JSON. Refuses unknown members by name.
func readStrictly<Value: Codable>(_ bytes: [UInt8]) throws(PracticeError) -> Value {
    let json: JSON
    do {
        json = try JSON.read(bytes)
    } catch {
        throw .invalid("it is not JSON: \(error)")
    }
    do {
        let value = try JSONDecoder().decode(Value.self, from: Data(bytes))
        let known = try JSON.read([UInt8](JSONEncoder().encode(value)))
        if let path = unknownMember(of: json, in: known) {
            throw PracticeError.invalid("\(path) is unknown; see docs/practice-store.md")
        }
        return value
    } catch let error as PracticeError {
        throw error
    } catch let error as DecodingError {
        throw .invalid(sentence(of: error))
    } catch {
        throw .invalid("it cannot be read: \(error)")
    }
}

/// Returns the path of a member that was ignored while reading, if any.
private func unknownMember(of json: JSON, in known: JSON) -> String? {
    if let object = json.object {
        for member in object.members where !member.value.isNull {
            guard let other = known[member.name] else { return member.name }
            if let path = unknownMember(of: member.value, in: other) {
                return "\(member.name).\(path)"
            }
        }
    }
    for (index, (value, other)) in zip(json.array ?? [], known.array ?? []).enumerated() {
        if let path = unknownMember(of: value, in: other) { return "[\(index)].\(path)" }
    }
    return nil
}

private func sentence(of error: DecodingError) -> String {
    func place(_ path: [any CodingKey]) -> String {
        let names = path.map { $0.intValue.map { "[\($0)]" } ?? $0.stringValue }
        return names.isEmpty ? "it" : names.joined(separator: ".")
    }
    switch error {
    case .keyNotFound(let key, let context):
        return "\(place(context.codingPath + [key])) is missing"
    case .typeMismatch(_, let context):
        return "\(place(context.codingPath)) has the wrong type; see docs/practice-store.md"
    case .valueNotFound(_, let context):
        return "\(place(context.codingPath)) is null; give it a value or leave it out"
    case .dataCorrupted(let context):
        let isOurs = context.debugDescription.hasPrefix("is \"")
        return place(context.codingPath) + " "
            + (isOurs ? context.debugDescription : "has an unknown value")
    @unknown default: return "it cannot be read: \(error)"
    }
}
