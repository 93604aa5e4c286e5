/// A value that its copies share until one of them is changed: copying costs one reference count,
/// however large it is.
struct Shared<Value: Hashable & Sendable>: Hashable, Sendable {
    /// `@unchecked Sendable`: the value is only changed while it has a single reference.
    private final class Box: @unchecked Sendable {
        var value: Value

        init(_ value: Value) {
            self.value = value
        }
    }
    private var box: Box

    init(_ value: Value) {
        box = Box(value)
    }

    var value: Value { box.value }

    mutating func change<Result>(_ change: (inout Value) -> Result) -> Result {
        if !isKnownUniquelyReferenced(&box) { box = Box(box.value) }
        return change(&box.value)
    }

    static func == (one: Self, other: Self) -> Bool {
        one.box === other.box || one.box.value == other.box.value
    }

    func hash(into hasher: inout Hasher) { hasher.combine(box.value) }
}
