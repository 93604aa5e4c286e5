import Core

/// The result of a stream's first events: its state, and the causes that were carried out.
///
/// The causes are folded and not looked up: a decision has the fold of the whole stream at hand,
/// and an index over every cause would cost each write more than remembering them does.
struct Fold: Sendable {
    private(set) var state: StreamState
    private var causes: [CauseMark: ObeyedCause] = [:]

    init(emptyFor stream: Stream) {
        state = StreamState(emptyFor: stream)
    }

    var version: Int64 { state.version }

    mutating func apply(_ recorded: RecordedEvent, causeDigest: [UInt8]) {
        state.apply(recorded)
        // What a store told or a clock brought may come again in a new life.
        if recorded.event.isErasure { causes = causes.filter(\.value.isOfCaller) }
        let mark = CauseMark(recorded.cause)
        let wish = WishMark(causeDigest)
        let new = ObeyedCause(
            wish: wish, first: recorded.version, last: 0,
            isOfCaller: Cause.isOfCaller(recorded.cause))
        causes[mark, default: new].last = recorded.version
    }

    /// The events that the cause led to, if the stream has carried it out.
    func obeyed(_ cause: Cause) -> ObeyedCause? { causes[CauseMark(cause.text)] }

    /// Why the whole stream cannot be what was written: events are emptied, and no erasure follows.
    var lack: LedgerError? {
        state.customer?.lacksErasure == true
            ? .unreadable("an emptied event of a customer who was not erased") : nil
    }

    /// Its rough size in bytes: a fold grows with its events.
    var weight: Int {
        causes.count * Fold.causeWeight + (state.customer?.weight ?? 2000 * Int(version))
    }

    /// A dictionary's entry takes about twice the size of what it holds.
    private static let causeWeight =
        2 * (MemoryLayout<CauseMark>.stride + MemoryLayout<ObeyedCause>.stride)
}

/// The events by which a stream carried out a cause: they are consecutive.
struct ObeyedCause: Sendable {
    let wish: WishMark
    let first: Int64
    fileprivate(set) var last: Int64
    fileprivate let isOfCaller: Bool
}

/// Distinguishes causes by 128 bits: texts of up to 300 bytes would fill the memory. Each process
/// keys the hash for itself, so that no sender can choose two causes that look alike.
private struct CauseMark: Hashable, Sendable {
    private let first: Int
    private let second: Int

    init(_ text: String) {
        first = CauseMark.hash(of: text, salt: 1)
        second = CauseMark.hash(of: text, salt: 2)
    }

    /// By bytes: Swift compares texts more loosely than the database does.
    private static func hash(of text: String, salt: UInt8) -> Int {
        var hasher = Hasher()
        hasher.combine(salt)
        var text = text
        text.withUTF8 { unsafe hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        return hasher.finalize()
    }
}

/// Distinguishes requests under the same cause.
struct WishMark: Hashable, Sendable {
    private let first: UInt64
    private let second: UInt64

    init(_ digest: [UInt8]) {
        (first, second) = firstHalf(of: digest)
    }
}

private func firstHalf(of digest: [UInt8]) -> (UInt64, UInt64) {
    func word(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }
    return (word(digest.prefix(8)), word(digest.dropFirst(8).prefix(8)))
}
