/// A value that copies share until one of them changes. Copying costs one reference count, however large the value is.
package struct Shared<Value: Hashable & Sendable>: Hashable, Sendable {
    /// `@unchecked Sendable`: safe, because the value is changed only while it has a single
    /// reference.
    private final class Box: @unchecked Sendable {
        var value: Value

        init(_ value: Value) {
            self.value = value
        }
    }
    private var box: Box

    package init(_ value: Value) {
        box = Box(value)
    }

    package var value: Value { box.value }

    mutating func change<Result>(_ change: (inout Value) -> Result) -> Result {
        if !isKnownUniquelyReferenced(&box) { box = Box(box.value) }
        return change(&box.value)
    }

    package static func == (one: Self, other: Self) -> Bool {
        one.box === other.box || one.box.value == other.box.value
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(box.value) }
}

extension Shared: CustomDebugStringConvertible {
    /// A reflection of the value, so that comparisons by reflection include its contents.
    package var debugDescription: String { String(reflecting: value) }
}
