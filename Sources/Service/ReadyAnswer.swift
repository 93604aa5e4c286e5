package import Core

/// An answer about a customer's entitlements as bytes, but for two places that each reader gets
/// filled anew: the instant and the position.
///
/// All of it lies in one piece of memory, with what is asked of it before it is given (but for a long
/// name): whoever reads one of a million answers waits for memory at each step from one thing to the
/// next.
///
/// `@unchecked Sendable`: nothing in it is changed once it is made.
package struct ReadyAnswer: @unchecked Sendable {
    fileprivate struct Head {
        let stream: Stream
        let from: Instant
        let until: Instant
        let rules: Int64
        let sequence: Int64
        let sandboxSequence: Int64?
        /// Of the bytes without what stands behind them, and with it.
        let length: UInt32
        let wholeLength: UInt32
        let instantPlace: UInt32
        let positionPlace: UInt32
        let tag: String
    }
    private final class Storage: ManagedBuffer<Head, UInt8> {}

    /// The bytes without the content of the two places, and behind them where the entitlements stand.
    private let storage: Storage

    /// Where things stand in an answer's bytes.
    package struct Places {
        /// Where the instant goes, and behind it the position.
        package var instant = 0
        package var position = 0
        /// Where each entitlement begins with its name, and where the last one ends.
        package var entitlements: [Int] = []

        package init() {}
    }

    /// The tag is so short that a string holds it without memory of its own.
    package init(
        _ answer: EntitlementsAnswer, as bytes: consuming [UInt8], _ places: Places, tag: String
    ) {
        let length = bytes.count
        for place in places.entitlements {
            for shift in stride(from: 24, through: 0, by: -8) {
                bytes.append(UInt8(truncatingIfNeeded: place >> shift))
            }
        }
        let content = bytes
        let head = Head(
            stream: answer.stream, from: answer.entitlements.at,
            until: answer.entitlements.nextChange ?? .distantFuture, rules: answer.rules,
            sequence: answer.position.sequence, sandboxSequence: answer.sandbox?.sequence,
            length: UInt32(length), wholeLength: UInt32(content.count),
            instantPlace: UInt32(places.instant), positionPlace: UInt32(places.position),
            tag: tag)
        let made = Storage.create(minimumCapacity: content.count) { _ in head }
        storage = unsafe unsafeDowncast(made, to: Storage.self)
        unsafe storage.withUnsafeMutablePointerToElements { elements in
            unsafe content.withUnsafeBufferPointer { content in
                guard let start = content.baseAddress else { return }
                unsafe elements.initialize(from: start, count: content.count)
            }
        }
    }

    /// Looks at the head where it is: the checks of an access to it, and of each part that is copied,
    /// would take longer than the look.
    private func head<Value>(_ look: (borrowing Head) -> Value) -> Value {
        unsafe storage.withUnsafeMutablePointerToHeader { unsafe look($0.pointee) }
    }

    package var stream: Stream { head { $0.stream } }
    /// The version of the project's rules that it was derived by.
    var rules: Int64 { head { $0.rules } }
    /// The sequence in the stream's shard up to which it was read.
    var sequence: Int64 { head { $0.sequence } }
    /// The sequence up to which the sandbox was read that it includes, in the sandbox's shard.
    var sandboxSequence: Int64? { head { $0.sandboxSequence } }
    /// Tells it from every other answer about the customer, whenever and wherever it is given.
    package var tag: String { head { $0.tag } }

    /// How many bytes there are.
    package var length: Int { head { Int($0.length) } }

    func isAbout(_ stream: Stream) -> Bool { head { $0.stream == stream } }

    /// Where each entitlement begins, and where the last one ends.
    package var entitlementPlaces: [Int] {
        let places = bytes(in: length..<head { Int($0.wholeLength) })
        return stride(from: 0, to: places.count, by: 4).map { start in
            places[start..<(start + 4)].reduce(0) { $0 << 8 | Int($1) }
        }
    }

    package func bytes(in range: Range<Int>) -> [UInt8] {
        precondition(
            range.lowerBound >= 0 && range.upperBound <= head { Int($0.wholeLength) },
            "the answer has no such bytes")
        return unsafe storage.withUnsafeMutablePointerToElements { elements in
            unsafe Array(
                UnsafeBufferPointer(start: elements + range.lowerBound, count: range.count))
        }
    }

    /// Appends the bytes before `end`, which stands behind both places, with what belongs there.
    package func append(
        before end: Int, to bytes: inout [UInt8], at instant: Instant, _ position: String
    ) {
        unsafe storage.withUnsafeMutablePointers { head, elements in
            let places = unsafe (
                Int(head.pointee.instantPlace), Int(head.pointee.positionPlace)
            )
            precondition(
                unsafe places.1 <= end && end <= Int(head.pointee.length),
                "the answer has no such bytes")
            unsafe bytes.append(contentsOf: UnsafeBufferPointer(start: elements, count: places.0))
            instant.append(to: &bytes)
            unsafe bytes.append(
                contentsOf: UnsafeBufferPointer(
                    start: elements + places.0, count: places.1 - places.0))
            bytes.append(contentsOf: position.utf8)
            unsafe bytes.append(
                contentsOf: UnsafeBufferPointer(start: elements + places.1, count: end - places.1))
        }
    }

    /// Whether it is right at that instant, as far as the clock goes.
    func holds(at now: Instant) -> Bool {
        head { $0.from <= now && now < $0.until }
    }

    /// Bytes of memory that it takes, roughly: an object comes with a header.
    var weight: Int {
        let name = head { $0.stream.customer.text.utf8.count }
        return storage.capacity + MemoryLayout<Head>.size + 16 + (name > 15 ? name + 32 : 0)
    }
}

/// A ready answer as one reader gets it.
package struct FilledAnswer: Sendable {
    package let ready: ReadyAnswer
    package let at: Instant
    package let position: Position
    /// For how many milliseconds nobody could say whether it still holds; `nil` when it does.
    package let staleness: Int64?

    package init(
        _ ready: ReadyAnswer, at instant: Instant, _ position: Position, staleness: Int64? = nil
    ) {
        self.ready = ready
        at = instant
        self.position = position
        self.staleness = staleness
    }
}
