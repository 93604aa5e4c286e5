import Core

/// The causes that a stream's most recent events carried out. Older causes are looked up in the log, so that memory use
/// does not grow with the stream.
struct RecentCauses: Sendable {
    /// The minimum number of versions to remember.
    static let span: Int64 = 256

    /// The causes of events up to this version are not remembered.
    private(set) var base: Int64 = 0
    /// Causes after this version are in `new`.
    private var middle: Int64 = 0
    private var new: [CauseMark: ObeyedCause] = [:]
    private var old: [CauseMark: ObeyedCause] = [:]
    private var last: CauseMark?

    /// `base` must be a version at which a commit ended.
    init(after base: Int64 = 0) {
        (self.base, middle) = (base, base)
    }

    mutating func add(_ recorded: RecordedEvent, causeDigest: [UInt8]) {
        // After an erasure, a store or a clock may repeat a cause.
        if recorded.event.isErasure {
            new = new.filter(\.value.isOfCaller)
            old = old.filter(\.value.isOfCaller)
        }
        let mark = CauseMark(recorded.cause)
        // Events with the same cause stay together.
        if mark != last { forget(before: recorded.version) }
        last = mark
        var obeyed =
            new[mark] ?? old[mark]
            ?? ObeyedCause(
                wish: WishMark(causeDigest), first: recorded.version, last: 0,
                isOfCaller: Cause.isOfCaller(recorded.cause))
        obeyed.last = recorded.version
        new[mark] = obeyed
    }

    /// Forgets the oldest causes if there are too many.
    private mutating func forget(before version: Int64) {
        if version - 1 - middle < RecentCauses.span { return }
        (old, new) = (new, [:])
        (base, middle) = (middle, version - 1)
    }

    func obeyed(_ cause: Cause) -> ObeyedCause? {
        let mark = CauseMark(cause.text)
        return new[mark] ?? old[mark]
    }

    /// The approximate size in bytes. A dictionary entry takes about twice the size of its contents.
    var weight: Int {
        2 * (new.count + old.count)
            * (MemoryLayout<CauseMark>.stride + MemoryLayout<ObeyedCause>.stride)
    }
}

/// The consecutive events with which a stream carried out a cause.
struct ObeyedCause: Sendable {
    let wish: WishMark
    let first: Int64
    fileprivate(set) var last: Int64
    let isOfCaller: Bool

    init(wish: WishMark, first: Int64, last: Int64, isOfCaller: Bool) {
        self.wish = wish
        self.first = first
        self.last = last
        self.isOfCaller = isOfCaller
    }
}

/// Identifies a cause by 128 bits, because strings of up to 300 bytes would use too much memory.
/// Each process has its own hash key, so that no sender can construct two causes with the same
/// hash.
private struct CauseMark: Hashable, Sendable {
    private let first: Int
    private let second: Int

    init(_ text: String) {
        first = CauseMark.hash(of: text, salt: 1)
        second = CauseMark.hash(of: text, salt: 2)
    }

    /// Hashes the bytes, because Swift considers more strings equal than the database does.
    private static func hash(of text: String, salt: UInt8) -> Int {
        var hasher = Hasher()
        hasher.combine(salt)
        var text = text
        text.withUTF8 { unsafe hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        return hasher.finalize()
    }
}

/// Distinguishes different requests with the same cause.
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
