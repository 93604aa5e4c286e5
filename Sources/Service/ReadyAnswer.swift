package import Core

/// An answer about a customer's entitlements as bytes, but for two places that each reader gets
/// filled anew: the instant and the position.
///
/// A class, so that handing it on counts one reference.
package final class ReadyAnswer: Sendable {
    /// The whole answer without the content of the two places.
    package let bytes: [UInt8]
    /// Where the instant goes, and behind it the position.
    package let instantPlace: Int
    package let positionPlace: Int
    /// Where the entitlements begin, each with its name, and where the last one ends.
    package let entitlementPlaces: [UInt32]
    /// Tells it from every other answer about the customer, whenever and wherever it is given; as HTTP
    /// writes it.
    package let tag: String

    package init(
        bytes: [UInt8], instantPlace: Int, positionPlace: Int, entitlementPlaces: [UInt32],
        tag: String
    ) {
        self.bytes = bytes
        self.instantPlace = instantPlace
        self.positionPlace = positionPlace
        self.entitlementPlaces = entitlementPlaces
        self.tag = tag
    }

    /// In place of an answer that was let go of.
    static let none = ReadyAnswer(
        bytes: [], instantPlace: 0, positionPlace: 0, entitlementPlaces: [], tag: "")
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
