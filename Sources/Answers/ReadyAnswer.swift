package import Core

/// An answer about a customer's entitlements as bytes, with what has to be known of it before it is given.
///
/// A class, so that handing it on counts one reference.
package final class ReadyAnswer: Sendable {
    package let stream: Stream
    /// Distinguishes it from every other answer about the customer, at any time and on any instance.
    package let tag: String
    package let body: AnswerBody
    /// When it is right, as far as the clock goes.
    private let validity: Range<Instant>
    /// The version of the project's rules that it was derived by.
    let rules: Int64
    /// The sequence in the stream's shard up to which it was read.
    let sequence: Int64
    /// The sequence up to which the sandbox was read that it includes, in the sandbox's shard.
    let sandboxSequence: Int64?

    package init(_ answer: EntitlementsAnswer, as body: AnswerBody, tag: String) {
        stream = answer.stream
        self.body = body
        self.tag = tag
        let start = answer.entitlements.at
        validity = start..<max(start, answer.entitlements.nextChange ?? .distantFuture)
        rules = answer.rules
        sequence = answer.position.sequence
        sandboxSequence = answer.sandbox?.sequence
    }

    /// Whether it is right at that instant, as far as the clock goes.
    func holds(at now: Instant) -> Bool { validity.contains(now) }

    /// Whether the other one of the same stream knows more. Of two that know the same, each is right
    /// in its own time, and the one that was asked for last is wanted.
    func isOlder(than other: ReadyAnswer) -> Bool {
        if sequence != other.sequence { return sequence < other.sequence }
        return rules < other.rules
    }

    /// Bytes of memory that it takes, roughly.
    var weight: Int {
        // The object itself, and what each array and each long name has in front of it.
        let own = 192 + body.bytes.count + body.parts.count * MemoryLayout<AnswerBody.Part>.stride
        let name = stream.customer.text.utf8.count
        return own + 64 + (name > 15 ? name + 32 : 0)
    }
}

/// The bytes of an answer except for two places that are filled for each reader: the instant and the
/// position.
package struct AnswerBody: Sendable {
    /// One of the entitlements in it.
    package struct Part: Sendable {
        package let entitlement: EntitlementID
        /// Its members, from behind the opening brace to behind the closing one.
        package let members: Range<Int>

        package init(_ entitlement: EntitlementID, _ members: Range<Int>) {
            self.entitlement = entitlement
            self.members = members
        }
    }
    package var bytes: [UInt8] = []
    /// Where the instant goes, and behind it the position.
    package var instant = 0
    package var position = 0
    /// Where the entitlements begin, with the comma in front of their name.
    package var entitlements = 0
    package var parts: [Part] = []

    package init() {}

    /// Appends the bytes before `end`, which stands behind both places, with what belongs there.
    package func append(
        before end: Int, to target: inout [UInt8], at now: Instant, _ position: String
    ) {
        target += bytes[..<instant]
        now.append(to: &target)
        target += bytes[instant..<self.position]
        target += position.utf8
        target += bytes[self.position..<end]
    }
}

/// A ready answer as one reader gets it.
package struct FilledAnswer: Sendable {
    package let ready: ReadyAnswer
    package let at: Instant
    package let position: Position
    /// For how many milliseconds the log could not confirm that it still holds; `nil` when it does.
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
