import Core
import Ledger
import Synchronization
import TestSupport
import Testing

@Suite("Reading while others write")
struct ConcurrentReadTests {
    @Test("A read that another one overtook does not mean that the log has shrunk")
    func overtaken() throws {
        let database = try ScratchDatabase()
        let ledger = database.ledger()
        defer { ledger.close() }
        let stream = try Stream.test("u1")
        let isOver = Atomic(false)
        let faults = Mutex<[Fault]>([])
        inParallel(9) { index in
            if index == 0 {
                for number in 0..<400 {
                    _ = try? ledger.append(.give("pro", to: stream, grant: "g\(number)"))
                }
                isOver.store(true, ordering: .relaxed)
                return
            }
            var version: Int64 = 0
            while !isOver.load(ordering: .relaxed) {
                do throws(Fault) {
                    let read = try ledger.customer(of: stream).customer.version
                    if read < version { throw .broken("version \(read) after \(version)") }
                    version = read
                } catch {
                    faults.withLock { $0.append(error) }
                }
            }
        }
        #expect(faults.withLock { $0 } == [])
    }
}
