/// The routes by their paths, so that finding one takes as long as its path and not as the list.
struct RouteTable<Found: Sendable>: Sendable {
    private struct Node: Sendable {
        /// A handful, so that comparing them takes less than looking one up.
        var texts: [(text: [UInt8], node: Int)] = []
        var argument: Int?
        /// What takes all that is left of the path.
        var tail: Int?
        /// What is at the end of this path, by method.
        var ends: [(method: String, found: Found)] = []
    }
    private var nodes = [Node()]

    /// What a path leads to.
    struct Place {
        let ends: [(method: String, found: Found)]
        /// The parts of the path that are arguments; `nil` when one of them is not validly encoded.
        let arguments: [String]?
    }

    mutating func add(_ found: Found, method: String, pattern: String) {
        var at = 0
        for part in pattern.dropFirst().split(separator: "/") {
            if part.hasSuffix("*}") {
                at = node(\.tail, below: at)
            } else if part.hasPrefix("{") {
                at = node(\.argument, below: at)
            } else {
                at = text(Array(part.utf8), below: at)
            }
        }
        nodes[at].ends.append((method, found))
    }

    private mutating func node(_ kind: WritableKeyPath<Node, Int?>, below parent: Int) -> Int {
        if let node = nodes[parent][keyPath: kind] { return node }
        nodes.append(Node())
        nodes[parent][keyPath: kind] = nodes.count - 1
        return nodes.count - 1
    }

    private mutating func text(_ text: [UInt8], below parent: Int) -> Int {
        for known in nodes[parent].texts where known.text == text { return known.node }
        nodes.append(Node())
        nodes[parent].texts.append((text, nodes.count - 1))
        return nodes.count - 1
    }

    /// Where the path leads; `nil` when no route has it. What a route names wins over an argument, and an
    /// argument over what takes all that is left.
    func find(_ path: Span<UInt8>) -> Place? {
        guard path.count > 0, path[0] == UInt8(ascii: "/") else { return nil }
        var arguments: [String]? = []
        guard let end = walk(path, from: 1, at: 0, &arguments) else { return nil }
        arguments?.reverse()
        return Place(ends: nodes[end].ends, arguments: arguments)
    }

    /// Goes from a node along what the path holds from `start` on. The arguments are taken on the way
    /// back, the last one first: only then it is known which they are.
    private func walk(
        _ path: Span<UInt8>, from start: Int, at node: Int, _ arguments: inout [String]?
    ) -> Int? {
        var end = start
        while end < path.count, path[end] != UInt8(ascii: "/") { end += 1 }
        // By place: to take them out would count references to each.
        for place in nodes[node].texts.indices
        where path.holds(nodes[node].texts[place].text, in: start..<end) {
            let next = nodes[node].texts[place].node
            if let found = finish(path, after: end, at: next, &arguments) { return found }
        }
        if let next = nodes[node].argument,
            let found = finish(path, after: end, at: next, &arguments)
        {
            take(path.extracting(start..<end), into: &arguments)
            return found
        }
        guard let next = nodes[node].tail else { return nil }
        take(path.extracting(start..<path.count), into: &arguments)
        return next
    }

    private func take(_ argument: Span<UInt8>, into arguments: inout [String]?) {
        if let text = percentDecoded(argument) {
            arguments?.append(text)
        } else {
            arguments = nil
        }
    }

    private func finish(
        _ path: Span<UInt8>, after end: Int, at node: Int, _ arguments: inout [String]?
    ) -> Int? {
        if end == path.count { return nodes[node].ends.isEmpty ? nil : node }
        return walk(path, from: end + 1, at: node, &arguments)
    }
}

extension Span<UInt8> {
    fileprivate func holds(_ text: [UInt8], in range: Range<Int>) -> Bool {
        guard text.count == range.count else { return false }
        for offset in text.indices where self[range.lowerBound + offset] != text[offset] {
            return false
        }
        return true
    }
}
