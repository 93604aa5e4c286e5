extension Instant {
    /// The instants in the years 0000 to 9999 in UTC, which RFC 3339 can express.
    package static let writable =
        Instant(milliseconds: -62_167_219_200_000)...Instant(milliseconds: 253_402_300_799_999)

    /// The instants that evidence may state: the years 1970 to 9999 in UTC. Stores sold nothing
    /// before 1970, and every date formatter can write these years.
    package static let statable = Instant(milliseconds: 0)...writable.upperBound

    /// The instant in RFC 3339, in UTC with milliseconds: `2026-11-20T19:21:00.000Z`. Years outside
    /// that format's range have the expanded form of ISO 8601, with a sign and at least six digits.
    package var text: String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(24)
        append(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Appends the instant in the same format.
    package func append(to bytes: inout [UInt8]) {
        let date = CivilDate(self)
        let (milliseconds, second) = (
            UInt32(date.millisecondOfDay) % 1000, UInt32(date.millisecondOfDay) / 1000
        )
        bytes.append(addingCapacity: 40) { text in
            text.append(year: date.year)
            text.append(UInt8(ascii: "-"))
            text.append(twoDigits: UInt32(date.month), then: "-")
            text.append(twoDigits: UInt32(date.day), then: "T")
            text.append(twoDigits: second / 3600, then: ":")
            text.append(twoDigits: second / 60 % 60, then: ":")
            text.append(twoDigits: second % 60, then: ".")
            text.append(digit: milliseconds / 100)
            text.append(twoDigits: milliseconds % 100, then: "Z")
        }
    }

    /// Reads RFC 3339 with any fraction of a second (truncated to milliseconds), and with `Z` or an
    /// offset, whose colon is optional. `nil` for any other text, including leap seconds and times
    /// whose year in UTC cannot be written.
    package init?(text: some StringProtocol) {
        self.init(expandedText: text)
        if text.first == "+" || text.first == "-" || !Instant.writable.contains(self) {
            return nil
        }
    }

    /// Reads the `text` of any instant, including expanded years.
    package init?(expandedText text: some StringProtocol) {
        var reader = DigitReader(bytes: Array(text.utf8))
        guard let year = reader.year(), reader.take("-"),
            let month = reader.number(digits: 2), reader.take("-"),
            let day = reader.number(digits: 2), reader.take("T") || reader.take("t"),
            let time = reader.timeOfDay(), let offset = reader.offset(), reader.isAtEnd,
            let date = CivilDate(year: year, month: month, day: day, millisecondOfDay: time)
        else { return nil }
        self = date.instant.advanced(byMilliseconds: -offset)
    }
}

extension OutputSpan<UInt8> {
    fileprivate mutating func append(digit: UInt32) {
        append(UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: digit))
    }

    fileprivate mutating func append(twoDigits number: UInt32, then end: Unicode.Scalar) {
        append(digit: number / 10)
        append(digit: number % 10)
        append(UInt8(ascii: end))
    }

    fileprivate mutating func append(year: Int64) {
        if (0...9999).contains(year) {
            let (century, rest) = UInt32(year).quotientAndRemainder(dividingBy: 100)
            append(digit: century / 10)
            append(digit: century % 10)
            append(digit: rest / 10)
            append(digit: rest % 10)
        } else {
            append(UInt8(ascii: year < 0 ? "-" : "+"))
            let digits = String(year.magnitude)
            for _ in min(6, digits.utf8.count)..<6 { append(UInt8(ascii: "0")) }
            for digit in digits.utf8 { append(digit) }
        }
    }
}

private struct DigitReader {
    let bytes: [UInt8]
    var at = 0

    var isAtEnd: Bool { at == bytes.count }

    mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard at < bytes.count, bytes[at] == UInt8(ascii: character) else { return false }
        at += 1
        return true
    }

    mutating func number(digits: Int) -> Int64? {
        guard at + digits <= bytes.count else { return nil }
        var value: Int64 = 0
        for _ in 0..<digits {
            guard let digit = digit() else { return nil }
            value = value * 10 + digit
        }
        return value
    }

    /// Reads a year of four digits, or of six to nine digits after a sign.
    mutating func year() -> Int64? {
        let sign: Int64 = take("-") ? -1 : take("+") ? 1 : 0
        if sign == 0 { return number(digits: 4) }
        guard let six = number(digits: 6) else { return nil }
        var year = six
        for _ in 0..<3 {
            guard let next = digit() else { break }
            year = year * 10 + next
        }
        return sign * year
    }

    private mutating func digit() -> Int64? {
        guard at < bytes.count, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(bytes[at])
        else { return nil }
        defer { at += 1 }
        return Int64(bytes[at] - UInt8(ascii: "0"))
    }

    /// Reads a time of day such as `19:21:00` or `19:21:00.123456`. Returns milliseconds.
    mutating func timeOfDay() -> Int64? {
        guard let hour = number(digits: 2), hour < 24, take(":"),
            let minute = number(digits: 2), minute < 60, take(":"),
            let second = number(digits: 2), second < 60
        else { return nil }
        var milliseconds: Int64 = 0
        if take(".") {
            guard let first = digit() else { return nil }
            milliseconds = first * 100
            var weight: Int64 = 10
            while let next = digit() {
                milliseconds += next * weight
                weight /= 10
            }
        }
        return ((hour * 60 + minute) * 60 + second) * 1000 + milliseconds
    }

    /// Reads an offset, which says how far the written time is ahead of UTC. Returns milliseconds.
    mutating func offset() -> Int64? {
        if take("Z") || take("z") { return 0 }
        let sign: Int64 = take("-") ? -1 : 1
        if sign == 1, !take("+") { return nil }
        guard let hours = number(digits: 2), hours < 24 else { return nil }
        _ = take(":")
        guard let minutes = number(digits: 2), minutes < 60 else { return nil }
        return sign * (hours * 60 + minutes) * 60_000
    }
}
