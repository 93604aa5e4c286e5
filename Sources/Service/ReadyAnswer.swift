package import Core

/// An answer about a customer's entitlements as bytes, but for two places that each reader gets
/// filled anew: the instant and the position.
///
/// All that is long lies in one array: whoever reads one of a million answers waits for memory at each
/// step from one thing to the next.
package struct ReadyAnswer: Sendable {
    /// The whole answer without the content of the two places, and behind it where the entitlements
    /// stand in it.
    private let content: [UInt8]
    /// How much of that is the answer.
    private let length: UInt32
    private let instant: UInt32
    private let position: UInt32
    /// Tells it from every other answer about the customer, whenever and wherever it is given. So
    /// short that a string holds it without memory of its own.
    package let tag: String

    /// `entitlementPlaces` are where the entitlements begin in the answer, each with its name, and
    /// where the last one ends.
    package init(
        answer: [UInt8], instantPlace: Int, positionPlace: Int, entitlementPlaces: [Int],
        tag: String
    ) {
        length = UInt32(answer.count)
        instant = UInt32(instantPlace)
        position = UInt32(positionPlace)
        self.tag = tag
        var content: [UInt8] = []
        content.reserveCapacity(answer.count + 4 * entitlementPlaces.count)
        content.append(contentsOf: answer)
        for place in entitlementPlaces {
            for shift in stride(from: 24, through: 0, by: -8) {
                content.append(UInt8(truncatingIfNeeded: place >> shift))
            }
        }
        self.content = content
    }

    /// In place of an answer that was let go of.
    static let none = ReadyAnswer(
        answer: [], instantPlace: 0, positionPlace: 0, entitlementPlaces: [], tag: "")

    package var bytes: ArraySlice<UInt8> { content[..<Int(length)] }

    /// Where the instant goes, and behind it the position.
    package var instantPlace: Int { Int(instant) }
    package var positionPlace: Int { Int(position) }

    /// Where each entitlement begins, and where the last one ends.
    package var entitlementPlaces: [Int] {
        stride(from: Int(length), to: content.count, by: 4).map { start in
            content[start..<(start + 4)].reduce(0) { $0 << 8 | Int($1) }
        }
    }

    /// Bytes of memory that it takes beside itself: an array comes with a header.
    var weight: Int { content.capacity + 32 }
}

/// A ready answer as one reader gets it.
package struct FilledAnswer: Sendable {
    package let stream: Stream
    package let ready: ReadyAnswer
    package let at: Instant
    package let position: Position
    /// For how many milliseconds nobody could say whether it still holds; `nil` when it does.
    package let staleness: Int64?

    package init(
        _ ready: ReadyAnswer, of stream: Stream, at instant: Instant, _ position: Position,
        staleness: Int64? = nil
    ) {
        self.ready = ready
        self.stream = stream
        at = instant
        self.position = position
        self.staleness = staleness
    }
}
