/// The number of items of each kind that are stored about a customer, apart from event headers, in the order in which
/// to display them.
package struct KeptCounts: Sendable {
    package let all: [(kind: String, count: Int64)]

    package init(_ all: [(kind: String, count: Int64)]) { self.all = all }

    package var isNothing: Bool { all.allSatisfy { $0.count == 0 } }

    package subscript(kind: String) -> Int64 { all.first { $0.kind == kind }?.count ?? 0 }
}
