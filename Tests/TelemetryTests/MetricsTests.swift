import Testing

@testable import Telemetry

@Suite("Metrics as Prometheus reads them")
struct MetricsTests {
    @Test("Series of one name share one heading, in the order in which they were added")
    func families() {
        let metrics = Metrics()
        metrics.counter("deed_reads_total", "Reads.", labels: [("from", "memory")]).add(3)
        metrics.gauge("deed_waiting", "Commands that wait.") { 7 }
        metrics.counter("deed_reads_total", "Reads.", labels: [("from", "database")]).add()
        #expect(
            metrics.text() == """
                # HELP deed_reads_total Reads.
                # TYPE deed_reads_total counter
                deed_reads_total{from="memory"} 3
                deed_reads_total{from="database"} 1
                # HELP deed_waiting Commands that wait.
                # TYPE deed_waiting gauge
                deed_waiting 7

                """)
    }

    @Test("A label's quotes, backslashes and line ends are escaped")
    func labels() {
        let metrics = Metrics()
        metrics.counter("c", "C.", labels: [("app", "a\"b\\c\nd")]).add()
        #expect(metrics.text().hasSuffix("\nc{app=\"a\\\"b\\\\c\\nd\"} 1\n"))
    }

    @Test(
        "A value is counted in the first bucket whose bound is not below it",
        arguments: [
            (0, [1, 0, 0]), (10, [1, 0, 0]), (11, [0, 1, 0]), (20, [0, 1, 0]), (21, [0, 0, 1]),
        ] as [(Int64, [Int64])])
    func buckets(_ value: Int64, _ counts: [Int64]) {
        let histogram = Histogram(bounds: [10, 20])
        histogram.record(value)
        #expect(histogram.counts == counts)
        #expect(histogram.sum == value)
    }

    @Test("A histogram's buckets are cumulative, and its times are seconds")
    func histogram() {
        let metrics = Metrics()
        let times = metrics.histogram("t", "T.", bounds: [1000, 2_500_000], lanes: 2)
        for (lane, value) in [500, 1500, 3_000_000].enumerated() {
            times.record(Int64(value), lane: lane)
        }
        #expect(
            metrics.text() == """
                # HELP t T.
                # TYPE t histogram
                t_bucket{le="0.001"} 1
                t_bucket{le="2.5"} 2
                t_bucket{le="+Inf"} 3
                t_sum 3.002
                t_count 3

                """)
    }

    @Test("Counts from several lanes make one number")
    func lanes() {
        let counter = Counter(lanes: 3)
        for lane in 0..<7 { counter.add(lane: lane) }
        #expect(counter.value == 7)
    }
}
