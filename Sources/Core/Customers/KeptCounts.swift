/// How much is kept of a customer beside the headers of events, by kind, in the order in which people read it.
package struct KeptCounts: Sendable {
    package let all: [(kind: String, count: Int64)]

    package init(_ all: [(kind: String, count: Int64)]) { self.all = all }

    package var isNothing: Bool { all.allSatisfy { $0.count == 0 } }

    package subscript(kind: String) -> Int64 { all.first { $0.kind == kind }?.count ?? 0 }
}
