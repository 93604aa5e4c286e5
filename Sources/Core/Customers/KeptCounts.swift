/// How much is kept about a customer besides the headers of events, by kind. The order is for
/// people.
package struct KeptCounts: Sendable {
    package let all: [(kind: String, count: Int64)]

    package init(_ all: [(kind: String, count: Int64)]) { self.all = all }

    package var isNothing: Bool { all.allSatisfy { $0.count == 0 } }

    package subscript(kind: String) -> Int64 { all.first { $0.kind == kind }?.count ?? 0 }
}
