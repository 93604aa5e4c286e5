/// The routes by their paths, so that finding one takes as long as its path and not as the list.
struct RouteTable<Found: Sendable>: Sendable {
    private struct Node: Sendable {
        /// A handful, so that comparing them takes less than looking one up.
        var texts: [(text: String, node: Int)] = []
        var argument: Int?
        /// What is at the end of this path, by method.
        var ends: [(method: String, found: Found)] = []
    }
    private var nodes = [Node()]

    /// What a path leads to.
    struct Place {
        let ends: [(method: String, found: Found)]
        /// The parts of the path that are arguments, still percent-encoded.
        let arguments: [Substring]
    }

    mutating func add(_ found: Found, method: String, pattern: String) {
        var at = 0
        for part in pattern.dropFirst().split(separator: "/") {
            at = part.hasPrefix("{") ? argument(below: at) : text(String(part), below: at)
        }
        nodes[at].ends.append((method, found))
    }

    private mutating func argument(below parent: Int) -> Int {
        if let node = nodes[parent].argument { return node }
        nodes.append(Node())
        nodes[parent].argument = nodes.count - 1
        return nodes.count - 1
    }

    private mutating func text(_ text: String, below parent: Int) -> Int {
        for known in nodes[parent].texts where known.text == text { return known.node }
        nodes.append(Node())
        nodes[parent].texts.append((text, nodes.count - 1))
        return nodes.count - 1
    }

    /// Where the path leads; `nil` when no route has it. What a route names wins over an argument.
    func find(_ path: String) -> Place? {
        guard path.utf8.first == UInt8(ascii: "/") else { return nil }
        var arguments: [Substring] = []
        arguments.reserveCapacity(4)
        let rest = path[path.utf8.index(after: path.startIndex)...]
        guard let end = walk(rest, from: 0, &arguments) else { return nil }
        return Place(ends: nodes[end].ends, arguments: arguments)
    }

    private func walk(
        _ path: Substring, from node: Int, _ arguments: inout [Substring]
    ) -> Int? {
        let slash = path.utf8.firstIndex(of: UInt8(ascii: "/"))
        let part = path[..<(slash ?? path.endIndex)]
        let rest = slash.map { path[path.utf8.index(after: $0)...] }
        for known in nodes[node].texts where known.text.utf8.elementsEqual(part.utf8) {
            if let end = finish(rest, at: known.node, &arguments) { return end }
        }
        guard let next = nodes[node].argument else { return nil }
        arguments.append(part)
        if let end = finish(rest, at: next, &arguments) { return end }
        arguments.removeLast()
        return nil
    }

    private func finish(
        _ rest: Substring?, at node: Int, _ arguments: inout [Substring]
    ) -> Int? {
        guard let rest else { return nodes[node].ends.isEmpty ? nil : node }
        return walk(rest, from: node, &arguments)
    }
}
