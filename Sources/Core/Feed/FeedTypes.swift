/// The events that a reader of the feed wants, by type and by the changes that the events caused.
package struct FeedTypes: Hashable, Sendable {
    private var names: Set<String> = []
    private var changes: Set<AnswerChange.Kind> = []

    /// Reads a list such as `purchase.made,subscription.*,entitlement.ended`.
    package init(_ text: String) throws(UnknownFeedType) {
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            try add(String(part))
        }
    }

    package init(_ list: [String]) throws(UnknownFeedType) {
        for name in list { try add(name) }
    }

    private mutating func add(_ name: String) throws(UnknownFeedType) {
        let isFamily = name.utf8.suffix(2).elementsEqual(".*".utf8)
        let found = FeedTypes.all.filter {
            isFamily ? $0.utf8.starts(with: name.utf8.dropLast()) : $0 == name
        }
        if found.isEmpty || name == ".*" {
            throw UnknownFeedType(
                name: name, nearest: nearest(to: name, among: FeedTypes.all + FeedTypes.families))
        }
        for type in found {
            if let change = FeedTypes.changesByName[type] {
                changes.insert(change)
            } else {
                names.insert(type)
            }
        }
    }

    /// Returns whether events of this type may be wanted.
    package func mayInclude(_ type: String) -> Bool { !changes.isEmpty || names.contains(type) }

    /// Whether an event's changes have to be determined before it is known whether the event is
    /// wanted.
    package var dependOnAccess: Bool { !changes.isEmpty }

    /// Returns whether events of this type are wanted regardless of their changes.
    package func names(_ type: String) -> Bool { names.contains(type) }

    package func include(_ kind: AnswerChange.Kind) -> Bool { changes.contains(kind) }

    package func include(_ type: String, _ access: [AnswerChange]) -> Bool {
        names.contains(type) || access.contains { changes.contains($0.kind) }
    }
}

package struct UnknownFeedType: Error, Hashable, Sendable {
    package let name: String
    package let nearest: String?
}

extension FeedTypes {
    private static let changesByName = Dictionary(
        uniqueKeysWithValues: AnswerChange.Kind.allCases.map { ("entitlement.\($0.rawValue)", $0) })

    /// All names that a reader may request.
    package static let all =
        customerTypes + AnswerChange.Kind.allCases.map { "entitlement.\($0.rawValue)" }

    /// All families of types, such as `purchase.*`.
    package static let families: [String] = {
        var families: [String] = []
        for name in all {
            let family = String(name.prefix { $0 != "." }) + ".*"
            if !families.contains(family) { families.append(family) }
        }
        return families
    }()

    /// The types of events in customers' streams.
    package static let customerTypes = EventType.allCases.filter(\.isOfCustomer).map(\.name)
}
