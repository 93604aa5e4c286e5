/// A position in every shard of the log. A reader of a project's feed passes it from one page to the next.
///
/// The text consists of digits of five bits each. Even if every shard has a long number, the text stays far
/// below the length limit.
package struct FeedCursor: Hashable, Sendable {
    package static let lengthLimit = 1024
    private static let form: UInt64 = 1

    /// The last position before the cursor in each shard, by shard number.
    package let place: [Int64]
    /// Marks that distinguish the events at these positions from others that may take their places after a failover.
    package let marks: PlaceMarks
    /// The shard with which the next page begins. It rotates, so that every shard gets its turn
    /// even if pages are short.
    package let turn: Int
    package let givenAt: Instant
    /// When the project was created. It distinguishes projects with the same name in different
    /// databases.
    package let origin: Instant
    /// The losses that had been accepted when the cursor was issued.
    package let losses: AcceptedLosses

    package init(
        _ place: [Int64], marks: PlaceMarks, turn: Int, givenAt: Instant, origin: Instant,
        losses: AcceptedLosses
    ) {
        precondition(place.count == Shard.count, "a cursor must have a place in each shard")
        self.place = place
        self.marks = marks
        self.turn = turn
        self.givenAt = givenAt
        self.origin = origin
        self.losses = losses
    }

    /// Reads a cursor that belongs to the project's feed.
    package init(_ text: String, of project: ProjectID) throws(InvalidCursor) {
        guard text.utf8.count <= FeedCursor.lengthLimit, var digits = CursorDigits(reading: text),
            digits.next() == FeedCursor.form
        else { throw .broken }
        if digits.next() != project.mark { throw .ofAnotherProject }
        guard let count = digits.next(), let mark = digits.next(), let givenAt = digits.next(),
            let origin = digits.next(), let marks = digits.next(),
            let turn = digits.next(), turn < Shard.count
        else { throw .broken }
        var place: [Int64] = []
        for _ in Shard.all {
            guard let number = digits.next(), let sequence = Int64(exactly: number) else {
                throw .broken
            }
            place.append(sequence)
        }
        if !digits.isAtEnd { throw .broken }
        self.init(
            place, marks: PlaceMarks(hash: marks), turn: Int(turn),
            givenAt: Instant(milliseconds: Int64(bitPattern: givenAt)),
            origin: Instant(milliseconds: Int64(bitPattern: origin)),
            losses: AcceptedLosses(count: count, mark: mark))
    }

    package func text(for project: ProjectID) -> String {
        var digits = CursorDigits()
        for number in [
            FeedCursor.form, project.mark, losses.count, losses.mark,
            UInt64(bitPattern: givenAt.milliseconds),
            UInt64(bitPattern: origin.milliseconds),
            marks.hash, UInt64(turn),
        ] { digits.append(number) }
        for sequence in place { digits.append(UInt64(max(0, sequence))) }
        return digits.sealed
    }
}

/// Marks that distinguish the events at a position in every shard from events that may take their places.
package struct PlaceMarks: Hashable, Sendable {
    /// Each shard's mark; `nil` if only the hash is known.
    private let each: [UInt64]?
    package let hash: UInt64

    package init(hash: UInt64) {
        (each, self.hash) = (nil, hash)
    }

    package init(_ marks: [UInt64]) {
        var hash = FNV1a64()
        for mark in marks {
            for shift in stride(from: 0, to: 64, by: 8) {
                hash.add(UInt8(truncatingIfNeeded: mark >> shift))
            }
        }
        (each, self.hash) = (marks, hash.value >> 24)
    }

    /// Returns the marks of a combined position, in which the positions of some shards come from `other`.
    package func taking(
        _ other: PlaceMarks, where isTaken: (_ shard: Int) -> Bool
    ) -> PlaceMarks {
        guard let each, let others = other.each else { return self }
        return PlaceMarks(each.indices.map { isTaken($0) ? others[$0] : each[$0] })
    }

    package static func == (one: PlaceMarks, other: PlaceMarks) -> Bool { one.hash == other.hash }

    package func hash(into hasher: inout Hasher) { hasher.combine(hash) }
}

package enum InvalidCursor: Error, Hashable, Sendable {
    case broken
    case ofAnotherProject
}

/// The losses of log data that were accepted: their number, and a mark that identifies them.
package struct AcceptedLosses: Hashable, Sendable {
    fileprivate let count: UInt64
    fileprivate let mark: UInt64

    fileprivate init(count: UInt64, mark: UInt64) {
        self.count = count
        self.mark = mark
    }

    package init(_ acceptances: [AcceptanceID]) {
        var hash = FNV1a64()
        for acceptance in acceptances {
            hash.add(acceptance.text.utf8.span)
            hash.add(0)
        }
        self.init(count: UInt64(acceptances.count), mark: hash.value >> 32)
    }
}

extension ProjectID {
    /// A mark that distinguishes this project's cursors from those of other projects. It has to detect mistakes, not
    /// attacks.
    fileprivate var mark: UInt64 {
        var hash = FNV1a64()
        hash.add(text.utf8.span)
        return hash.value >> 24
    }
}

/// Numbers written with letters, digits, `-` and `_`, lowest five bits first. A set sixth bit means
/// that more digits follow.
private struct CursorDigits {
    private static let alphabet = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
    private static let values: [UInt8: UInt64] = Dictionary(
        uniqueKeysWithValues: alphabet.enumerated().map { ($1, UInt64($0)) })
    /// The length of the checksum at the end, in characters.
    private static let sealLength = 5

    private var bytes: [UInt8] = []
    private var reached = 0

    init() {}

    /// Reads a string that ends with its checksum; `nil` if the string is damaged.
    init?(reading text: String) {
        let bytes = Array(text.utf8)
        guard bytes.count > CursorDigits.sealLength,
            bytes.allSatisfy({ CursorDigits.values[$0] != nil })
        else { return nil }
        self.bytes = bytes.dropLast(CursorDigits.sealLength)
        if seal != Array(bytes.suffix(CursorDigits.sealLength)) { return nil }
    }

    var isAtEnd: Bool { reached == bytes.count }

    mutating func append(_ number: UInt64) {
        var rest = number
        repeat {
            let digit = rest & 31
            rest >>= 5
            bytes.append(CursorDigits.alphabet[Int(digit | (rest > 0 ? 32 : 0))])
        } while rest > 0
    }

    /// Returns the next number; `nil` if no number follows or the next one is too long.
    mutating func next() -> UInt64? {
        var (number, shift) = (UInt64(0), UInt64(0))
        while reached < bytes.count, let digit = CursorDigits.values[bytes[reached]] {
            reached += 1
            // Only the last four bits are left for the thirteenth digit.
            if shift > 60 || shift == 60 && digit & 31 > 15 { return nil }
            number |= (digit & 31) << shift
            if digit < 32 { return number }
            shift += 5
        }
        return nil
    }

    private var seal: [UInt8] {
        var hash = FNV1a64()
        hash.add(bytes.span)
        let value = hash.value ^ hash.value >> 32
        return (0..<UInt64(CursorDigits.sealLength)).map {
            CursorDigits.alphabet[Int(value >> ($0 * 6) & 63)]
        }
    }

    var sealed: String { String(decoding: bytes + seal, as: UTF8.self) }
}
