import Assembly
package import Core

/// The machine's clock, for what goes on beside the built program.
@Sendable package func machineInstant() -> Instant { systemClock() }
