import Synchronization
import Testing
import Threading

@Suite("Courses", .timeLimit(.minutes(20)))
struct CourseTests {
    /// Returns a course that ends after a while, on another thread.
    private func later(_ number: Int, _ milliseconds: Int64 = 5) -> Course<Int> {
        .wait { resume in
            startThread("later") {
                pause(milliseconds: milliseconds)
                resume(.work { .ended(number) })
            }
        }
    }

    @Test("A course is carried out step by step, and so is what follows it")
    func steps() {
        let course = later(1).then { one in .work { .ended(one + 1) } }.map { "\($0)" }
        #expect(course.awaited() == "2")
    }

    @Test("Courses side by side keep their order, and end when the last one does")
    func together() {
        let courses = (0..<20).map { later($0, Int64(20 - $0)) }
        #expect(Course.all(courses).awaited() == Array(0..<20))
        #expect(Course<Int>.all([]).awaited() == [])
        #expect(
            Course.all([Course.ended(1), later(2), .work { .ended(3) }]).awaited() == [1, 2, 3])
    }

    @Test("One that waits for another of them goes on when that one has")
    func joined() {
        let joiner = Monitor<(@Sendable () -> Void)?>(nil)
        let waiting: Course<Int> = .wait { resume in
            joiner.change { $0 = { resume(.ended(2)) } }
        }
        let leading = later(1).then { one in
            joiner.change { $0 }?()
            return .ended(one)
        }
        #expect(Course.all([leading, waiting]).awaited() == [1, 2])
    }

    @Test("A slow one holds up no other")
    func slow() {
        let steps = Atomic(0)
        let quick = (0..<3).reduce(later(0)) { course, _ in
            course.then { number in
                steps.add(1, ordering: .relaxed)
                return later(number + 1)
            }
        }
        let watching: Course<Int> = .wait { resume in
            startThread("watching") {
                pause(milliseconds: 1500)
                let seen = steps.load(ordering: .relaxed)
                resume(.ended(seen))
            }
        }
        #expect(Course.all([watching, quick]).awaited() == [3, 3])
    }

    @Test("Work is carried out where threads may wait")
    func patience() {
        let moved = Atomic(0)
        let end = Monitor<Int?>(nil)
        later(7).carryOut(
            isPatient: false,
            whenPatient: { work in
                moved.add(1, ordering: .relaxed)
                startThread("patient") { work() }
            },
            end: { number, isPatient in
                let told = isPatient ? number : 0
                end.change { $0 = told }
            })
        #expect(end.wait { $0 } == 7)
        #expect(moved.load(ordering: .relaxed) == 1)
    }
}

@Suite("Alarms", .timeLimit(.minutes(20)))
struct AlarmTests {
    @Test("Each rings once, the earliest first, whenever it was set")
    func order() {
        let alarms = Alarms()
        let rung = Monitor<[Int]>([])
        let now = monotonicMilliseconds()
        for (number, wait) in [(3, 300), (1, 100), (2, 200)] as [(Int, Int64)] {
            alarms.ring(at: now + wait) { rung.change { $0.append(number) } }
        }
        #expect(rung.wait { $0.count == 3 ? $0 : nil } == [1, 2, 3])
        pause(milliseconds: 50)
        // The alarms' thread has ended meanwhile, so this alarm starts a new one.
        alarms.ring(at: monotonicMilliseconds()) { rung.change { $0.append(4) } }
        #expect(rung.wait { $0.count == 4 ? $0 : nil } == [1, 2, 3, 4])
    }
}
