import Synchronization

/// A count that can only grow.
///
/// Threads that constantly increment the same counter contend for its memory. Where this matters, a
/// counter has several lanes, and each thread uses one of them.
package final class Counter: Sendable {
    private let lanes: [Lane]

    private final class Lane: Sendable {
        let total = Atomic<Int64>(0)
        /// Padding that keeps the next lane out of this lane's cache line.
        let gap = (0, 0, 0, 0, 0, 0, 0)
    }

    package init(lanes: Int = 1) {
        self.lanes = (0..<max(1, lanes)).map { _ in Lane() }
    }

    package func add(_ amount: Int64 = 1, lane: Int = 0) {
        lanes[lane % lanes.count].total.add(amount, ordering: .relaxed)
    }

    package var value: Int64 { lanes.reduce(0) { $0 + $1.total.load(ordering: .relaxed) } }
}

/// A number that can rise and fall.
package final class Gauge: Sendable {
    private let current = Atomic<Int64>(0)
    package init() {}
    package func set(_ value: Int64) { current.store(value, ordering: .relaxed) }
    package func add(_ amount: Int64) { current.add(amount, ordering: .relaxed) }
    package var value: Int64 { current.load(ordering: .relaxed) }
}

/// A count of measured values in buckets, each of which has an upper bound.
package final class Histogram: Sendable {
    /// Bounds for request and commit times, from 50 microseconds to 10 seconds.
    package static let latencyBounds: [Int64] = [
        50, 100, 250, 500, 1000, 2500, 5000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000,
        1_000_000, 2_500_000, 10_000_000,
    ]
    /// Bounds for batch sizes: powers of two.
    package static let sizeBounds: [Int64] = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512]

    package let bounds: [Int64]
    private let buckets: [Counter]
    private let total: Counter

    package init(bounds: [Int64], lanes: Int = 1) {
        self.bounds = bounds
        buckets = (0...bounds.count).map { _ in Counter(lanes: lanes) }
        total = Counter(lanes: lanes)
    }

    package func record(_ value: Int64, lane: Int = 0) {
        buckets[bounds.firstIndex { value <= $0 } ?? bounds.count].add(lane: lane)
        total.add(value, lane: lane)
    }

    package var counts: [Int64] { buckets.map(\.value) }
    package var sum: Int64 { total.value }
}

/// The metrics of one process, rendered in the Prometheus format.
package final class Metrics: Sendable {
    package enum Unit: Sendable { case plain, microsecondsAsSeconds }

    private enum Value: Sendable {
        case counter(@Sendable () -> Int64)
        case gauge(@Sendable () -> Int64)
        case histogram(Histogram, Unit)
    }
    private struct Series: Sendable {
        let labels: [(name: String, value: String)]
        let value: Value
    }
    private struct Family: Sendable {
        let name: String
        let help: String
        let type: String
        var series: [Series] = []
    }
    private let families = Mutex<[Family]>([])

    package init() {}

    /// Returns a counter that is rendered under `name` with these labels.
    package func counter(
        _ name: String, _ help: String, labels: [(String, String)] = [], lanes: Int = 1
    ) -> Counter {
        let counter = Counter(lanes: lanes)
        add(name, help, "counter", labels, .counter { counter.value })
        return counter
    }

    /// Registers a counter whose value is maintained elsewhere and is read each time the metrics are rendered.
    package func counter(
        _ name: String, _ help: String, _ value: @escaping @Sendable () -> Int64
    ) {
        add(name, help, "counter", [], .counter(value))
    }

    /// Registers a gauge whose value is read each time the metrics are rendered.
    package func gauge(
        _ name: String, _ help: String, labels: [(String, String)] = [],
        _ value: @escaping @Sendable () -> Int64
    ) {
        add(name, help, "gauge", labels, .gauge(value))
    }

    /// Returns a histogram that is rendered under `name` with these labels.
    package func histogram(
        _ name: String, _ help: String, labels: [(String, String)] = [],
        bounds: [Int64] = Histogram.latencyBounds, unit: Unit = .microsecondsAsSeconds,
        lanes: Int = 1
    ) -> Histogram {
        let histogram = Histogram(bounds: bounds, lanes: lanes)
        add(name, help, "histogram", labels, .histogram(histogram, unit))
        return histogram
    }

    private func add(
        _ name: String, _ help: String, _ type: String, _ labels: [(String, String)],
        _ value: Value
    ) {
        let series = Series(labels: labels.map { (name: $0.0, value: $0.1) }, value: value)
        families.withLock { families in
            if let index = families.firstIndex(where: { $0.name == name }) {
                families[index].series.append(series)
            } else {
                families.append(Family(name: name, help: help, type: type, series: [series]))
            }
        }
    }

    /// Returns all metrics in the Prometheus text format.
    package func text() -> String {
        var lines: [String] = []
        for family in families.withLock({ $0 }) {
            lines.append("# HELP \(family.name) \(family.help)")
            lines.append("# TYPE \(family.name) \(family.type)")
            for series in family.series {
                render(series, of: family.name, into: &lines)
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private func render(_ series: Series, of name: String, into lines: inout [String]) {
        let labels = series.labels.map { "\($0.name)=\"\(escaped($0.value))\"" }
        let suffix = labels.isEmpty ? "" : "{\(labels.joined(separator: ","))}"
        switch series.value {
        case .counter(let value), .gauge(let value):
            lines.append("\(name)\(suffix) \(value())")
        case .histogram(let histogram, let unit):
            var cumulative: Int64 = 0
            for (index, count) in histogram.counts.enumerated() {
                cumulative += count
                let bound =
                    index < histogram.bounds.count
                    ? scaled(histogram.bounds[index], unit) : "+Inf"
                let all = (labels + ["le=\"\(bound)\""]).joined(separator: ",")
                lines.append("\(name)_bucket{\(all)} \(cumulative)")
            }
            lines.append("\(name)_sum\(suffix) \(scaled(histogram.sum, unit))")
            lines.append("\(name)_count\(suffix) \(cumulative)")
        }
    }

    private func scaled(_ value: Int64, _ unit: Unit) -> String {
        switch unit {
        case .plain: String(value)
        case .microsecondsAsSeconds: String(Double(value) / 1_000_000)
        }
    }

    private func escaped(_ text: String) -> String {
        var result = ""
        for character in text {
            switch character {
            case "\\": result += "\\\\"
            case "\"": result += "\\\""
            case "\n": result += "\\n"
            default: result.append(character)
            }
        }
        return result
    }
}
