import JSON
import TestSupport
import Testing

extension ProgramTests {
    @Suite("Showing a customer in a terminal", .timeLimit(.minutes(20)))
    struct Telling {
        private let installation: Installation

        init() throws {
            installation = try Installation(try ScratchDatabase())
            #expect(try installation.run("project", "create", "default").code == 0)
            for arguments in [
                [
                    "--entitlement", "pro", "--start", "2026-01-01T00:00:00Z", "--end",
                    "2026-02-01T00:00:00Z",
                ],
                [
                    "--entitlement", "pro", "--start", "2026-03-01T00:00:00Z", "--end",
                    "2026-04-01T00:00:00Z",
                ],
                ["--entitlement", "vip", "--start", "2026-02-01T00:00:00Z", "--ticket", "T-7"],
            ] {
                let given = try installation.run(
                    ["grant", "--customer", "u1", "--reason", "a fair one"] + arguments)
                #expect(given.code == 0, "\(given.errors)")
            }
        }

        @Test("A timeline has a bar for each right and its sources, marks the moment and fits")
        func timeline() throws {
            let shown = try installation.run(
                "customer", "timeline", "u1", "--at", "2026-02-15T00:00:00Z", "--width", "60",
                "--to", "2026-05-01T00:00:00Z")
            #expect(shown.code == 0, "\(shown.errors)")
            let lines = shown.output.split(separator: "\n").map(String.init)
            #expect(lines.allSatisfy { $0.count <= 60 })
            #expect(lines[0].contains("2026-01-01"))
            #expect(lines[0].hasSuffix("2026-05-01"))
            #expect(lines[1].contains("▼ 2026-02-15T00:00Z"))
            let mark = try #require(lines[1].firstIndex(of: "▼"))
            let column = lines[1].distance(from: lines[1].startIndex, to: mark)
            let pro = try #require(lines.first { $0.hasPrefix("pro ") })
            #expect(Array(pro)[column] == "│")
            #expect(pro.split(separator: "│").map { $0.contains("█") } == [true, true])
            let vip = try #require(lines.first { $0.hasPrefix("vip ") })
            #expect(Array(vip)[column] == "█")
            #expect(vip.hasSuffix("▶"))
            #expect(lines.filter { $0.hasPrefix("  grant g_") }.count == 3)
            let json = try installation.run("customer", "timeline", "u1", "--json").json
            #expect(json["rows"]?.array?.count == 5)
        }

        /// Creates the history of `u3`: three renewals of five minutes each, and a pause of ten minutes.
        private func liveQuickly() throws {
            for (start, end) in [
                ("10:00", "10:05"), ("10:05", "10:10"), ("10:10", "10:15"), ("10:25", "10:30"),
            ] {
                let given = try installation.run(
                    "grant", "--customer", "u3", "--reason", "a fair one", "--entitlement", "pro",
                    "--start", "2026-01-01T\(start):00Z", "--end", "2026-01-01T\(end):00Z")
                #expect(given.code == 0, "\(given.errors)")
            }
        }

        @Test(
            "A life of minutes is drawn in minutes, even long after it is over",
            arguments: ["2026-01-01T10:12:00Z", "2026-01-01T10:30:00Z", "2026-11-20T00:00:00Z"])
        func minutes(at: String) throws {
            try liveQuickly()
            for width in [40, 80] {
                let shown = try installation.run(
                    "customer", "timeline", "u3", "--at", at, "--width", "\(width)")
                let lines = shown.output.split(separator: "\n").map(String.init)
                #expect(lines.allSatisfy { $0.count <= width }, "\(shown.output)")
                #expect(lines[0].contains("10:00Z"), "\(shown.output)")
                #expect(lines[0].hasSuffix("10:33Z"), "\(shown.output)")
                let pro = try #require(lines.first { $0.hasPrefix("pro ") })
                // Half an hour with a ten-minute pause must not look like one solid bar or like a single column.
                let runs = pro.dropFirst(4).split { $0 != "█" }.map(\.count)
                #expect(runs.reduce(0, +) > width / 4, "\(shown.output)")
                #expect((2...3).contains(runs.count), "\(shown.output)")
                #expect(lines[1].contains(at.dropFirst(11).prefix(5)), "\(shown.output)")
                #expect(lines[1].hasSuffix("→") == at.hasPrefix("2026-11"), "\(shown.output)")
            }
        }

        @Test("Names with wide letters, or with letters of no width, leave the bars aligned")
        func columns() throws {
            for entitlement in ["会员资格", "x\u{301}tx\u{301}", "🎮 pass", "सदस्यता"] {
                let given = try installation.run(
                    "grant", "--customer", "u2", "--reason", "a fair one", "--entitlement",
                    entitlement, "--start", "2026-01-01T00:00:00Z", "--end", "2026-03-01T00:00:00Z")
                #expect(given.code == 0, "\(given.errors)")
            }
            let shown = try installation.run(
                "customer", "timeline", "u2", "--at", "2026-02-01T00:00:00Z", "--width", "50")
            let lines = shown.output.split(separator: "\n").map(String.init)
            // The labels take a third of the width, 16 columns. Each bar begins after its label.
            #expect(lines.allSatisfy { $0.count + $0.count(where: "会员资格🎮".contains) <= 50 })
            for (label, rest) in [
                ("会员资格", 8), ("x\u{301}tx\u{301}", 13), ("🎮 pass", 9), ("सदस्यता", 10),
            ] {
                let beginning = label + String(repeating: " ", count: rest + 1) + "█"
                #expect(lines.contains { $0.hasPrefix(beginning) }, "\(shown.output)")
            }
            #expect(lines.filter { $0.hasPrefix("  grant g_") && $0.contains("… █") }.count == 4)
        }

        @Test("Wherever the mark is and however narrow the terminal, nothing exceeds the width")
        func width() throws {
            for width in ["40", "47", "56", "80"] {
                for at in ["2026-01-01", "2026-01-20", "2026-02-01", "2026-02-20", "2026-04-30"] {
                    let shown = try installation.run(
                        "customer", "timeline", "u1", "--width", width, "--at",
                        "\(at)T00:00:00Z", "--to", "2026-05-01T00:00:00Z")
                    let lines = shown.output.split(separator: "\n")
                    #expect(lines.allSatisfy { $0.count <= Int(width) ?? 0 }, "\(shown.output)")
                    #expect(lines[1].contains("▼"))
                    #expect(lines[1].contains(at), "\(shown.output)")
                }
            }
        }

        @Test("A beginning after everything, or an end before everything, leaves an empty drawing")
        func beyond() throws {
            for bound in [
                ["--from", "2040-01-01T00:00:00Z"], ["--to", "2020-01-01T00:00:00Z"],
            ] {
                let shown = try installation.run(["customer", "timeline", "u1"] + bound)
                #expect(shown.code == 0, "\(shown.errors)")
                #expect(shown.output.contains(bound[1].prefix(10)), "\(shown.output)")
            }
        }

        @Test("A customer who holds nothing has no timeline, and a bad span is a usage error")
        func empty() throws {
            let shown = try installation.run("customer", "timeline", "nobody")
            #expect(shown.code == 0)
            #expect(shown.output == "The customer \"nobody\" holds nothing in production.\n")
            let refused = try installation.run(
                "customer", "timeline", "u1", "--from", "2027-01-01T00:00:00Z", "--to",
                "2026-01-01T00:00:00Z")
            #expect(refused.code == 2)
        }

        @Test("An explanation says in words who gave what and why, what ended, and what comes")
        func explanation() throws {
            let shown = try installation.run(
                "customer", "explain", "u1", "--entitlement", "vip", "--at",
                "2026-02-15T00:00:00Z")
            #expect(shown.output.contains("vip is active (2.0) for u1 in production"))
            #expect(shown.output.contains("It is active by an admin's decision, grant g_"))
            #expect(shown.output.contains(": a fair one (T-7)."))
            #expect(shown.output.contains("cli:"))
            #expect(shown.output.contains("It has no known end."))
            let over = try installation.run(
                "customer", "explain", "u1", "--entitlement", "pro", "--at",
                "2026-02-15T00:00:00Z")
            #expect(over.output.contains("pro is upcoming (0.0)"))
            #expect(over.output.contains("The last access was by an admin's decision"))
            #expect(over.output.contains("It begins at 2026-03-01T00:00:00.000Z."))
            let words = try installation.run(
                "customer", "explain", "u1", "--entitlement", "pro", "--json", "--at",
                "2026-02-15T00:00:00Z"
            ).json["words"]?.array?.compactMap(\.string)
            #expect(words.map { $0.allSatisfy(over.output.contains) } == true)
            let never = try installation.run("customer", "explain", "u1", "--entitlement", "x")
            #expect(never.output.contains("never held x."))
        }
    }
}
