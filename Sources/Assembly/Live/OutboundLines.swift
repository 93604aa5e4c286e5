import Outbound
import Synchronization

/// Connections to other servers. They are opened on first use, because most commands do not need them.
final class OutboundLines: Sendable {
    private let open: @Sendable () throws(OutboundError) -> Courier
    private let state = Mutex<(courier: Courier?, isClosed: Bool)>((nil, false))

    init(open: @escaping @Sendable () throws(OutboundError) -> Courier) {
        self.open = open
    }

    func courier() throws(OutboundError) -> Courier {
        try state.withLock { state throws(OutboundError) -> Courier in
            if state.isClosed { throw .cancelled }
            if let courier = state.courier { return courier }
            let courier = try open()
            state.courier = courier
            return courier
        }
    }

    func close() {
        let courier = state.withLock { state in
            state.isClosed = true
            return state.courier
        }
        courier?.close()
    }
}
