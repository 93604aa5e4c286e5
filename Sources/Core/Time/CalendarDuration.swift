/// An ISO 8601 duration such as `P1M`, `P30D` or `PT12H`, which is added in UTC calendar time.
package struct CalendarDuration: Hashable, Sendable {
    package let months: Int64
    package let days: Int64
    package let milliseconds: Int64
    /// The text from which the duration was read.
    package let text: String

    /// Reads whole years, months, weeks, days, hours, minutes and seconds. The text must have at
    /// least one unit and a total above zero. `nil` for any other text.
    package init?(_ text: String) {
        var parts = Parts()
        guard let rest = text.utf8.first == UInt8(ascii: "P") ? text.utf8.dropFirst() : nil,
            parts.read(rest), parts.months + parts.days + parts.seconds > 0
        else { return nil }
        months = parts.months
        days = parts.days
        milliseconds = parts.seconds * 1000
        self.text = text
    }

    /// Returns a duration of `count` days. The count must be at least one.
    package static func days(_ count: Int64) -> CalendarDuration {
        precondition(
            (1...Parts.largestNumber).contains(count), "the number of days is out of range")
        return CalendarDuration(days: count)
    }

    private init(days: Int64) {
        months = 0
        self.days = days
        milliseconds = 0
        text = "P\(days)D"
    }

    /// Returns the instant this long after `start`. Months are added first, then days, then the time. A day that the
    /// resulting month lacks becomes its last day.
    package func end(after start: Instant) -> Instant { moment(1, from: start) }

    /// Returns the instant this long before `end`, calculated by the same rules.
    package func start(before end: Instant) -> Instant { moment(-1, from: end) }

    private func moment(_ direction: Int64, from instant: Instant) -> Instant {
        var date = CivilDate(instant)
        let month = date.year * 12 + (date.month - 1) + direction * months
        date.year = month.flooredQuotient(by: 12)
        date.month = month - date.year * 12 + 1
        date.day = min(date.day, CivilDate.days(inMonth: date.month, of: date.year))
        return date.instant
            .advanced(byMilliseconds: direction * days * CivilDate.millisecondsPerDay)
            .advanced(byMilliseconds: direction * milliseconds)
    }
}

private struct Parts {
    /// The largest accepted number for any unit. It is far above any practical use, and far below
    /// an overflow.
    static let largestNumber: Int64 = 10_000_000
    var months: Int64 = 0
    var days: Int64 = 0
    var seconds: Int64 = 0

    mutating func read(_ text: Substring.UTF8View) -> Bool {
        var units = Array("YMWD".utf8)
        var isTime = false
        var number: Int64?
        for byte in text {
            if byte == UInt8(ascii: "T") {
                if isTime || number != nil { return false }
                isTime = true
                units = Array("HMS".utf8)
            } else if let digit = byte.decimalDigit {
                let value = (number ?? 0) * 10 + digit
                if value > Parts.largestNumber { return false }
                number = value
            } else {
                // Each unit may occur at most once, and the units must be in order.
                guard let index = units.firstIndex(of: byte), let value = number else {
                    return false
                }
                units.removeFirst(index + 1)
                add(value, unit: byte, isTime: isTime)
                number = nil
            }
        }
        let isTimeEmpty = isTime && units.count == 3
        return number == nil && !isTimeEmpty
    }

    private mutating func add(_ value: Int64, unit: UInt8, isTime: Bool) {
        switch (Character(Unicode.Scalar(unit)), isTime) {
        case ("Y", _): months += value * 12
        case ("M", false): months += value
        case ("W", _): days += value * 7
        case ("D", _): days += value
        case ("H", _): seconds += value * 3600
        case ("M", true): seconds += value * 60
        default: seconds += value
        }
    }
}

extension UInt8 {
    var decimalDigit: Int64? {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self)
            ? Int64(self - UInt8(ascii: "0")) : nil
    }
}
