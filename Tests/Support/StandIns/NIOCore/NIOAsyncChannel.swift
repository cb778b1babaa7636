import Scheduling

// As much of SwiftNIO's `NIOCore` as tests of servers use: names, labels and results as in swift-nio 2.99.0, of which they were read. Not the
// library: there are no event loops, and the test supplies what arrives and takes what is written.

/// A connection.
package protocol Channel: AnyObject, Sendable {
  /// Whether the peer has not closed the connection, and this side has not either.
  var isActive: Bool { get }
  /// Closes the connection.
  func close() async throws
}

/// A connection as a stream and a writer, which must be finished: a channel that is dropped without
/// ``executeThenClose(_:)`` ends the process.
package struct NIOAsyncChannel<Inbound: Sendable, Outbound: Sendable>: Sendable {
  package let channel: any Channel
  private let inbound: NIOAsyncChannelInboundStream<Inbound>
  private let outbound: NIOAsyncChannelOutboundWriter<Outbound>

  /// Wraps a channel of a test.
  ///
  /// - Parameters:
  ///   - channel: the connection.
  ///   - inbound: what arrives.
  ///   - write: takes what is written.
  package init(
    wrapping channel: any Channel, inbound: AsyncStream<Inbound>, write: @escaping @Sendable (Outbound) -> Void
  ) {
    self.channel = channel
    self.inbound = NIOAsyncChannelInboundStream(stream: inbound)
    outbound = NIOAsyncChannelOutboundWriter(writer: Writer(channel, write))
  }

  /// Runs the body, finishes the writer, and closes the channel.
  package func executeThenClose<Result>(
    isolation actor: isolated (any Actor)? = #isolation,
    _ body: (_ inbound: NIOAsyncChannelInboundStream<Inbound>, _ outbound: NIOAsyncChannelOutboundWriter<Outbound>)
      async throws -> sending Result
  ) async throws -> sending Result {
    let result: Result
    do {
      result = try await body(inbound, outbound)
    } catch {
      outbound.finish()
      try? await channel.close()
      throw error
    }
    outbound.finish()
    try? await channel.close()
    return result
  }
}

/// What arrives on a connection.
package struct NIOAsyncChannelInboundStream<Inbound: Sendable>: AsyncSequence, Sendable {
  package typealias Element = Inbound
  fileprivate let stream: AsyncStream<Inbound>

  package func makeAsyncIterator() -> AsyncIterator { AsyncIterator(iterator: stream.makeAsyncIterator()) }

  package struct AsyncIterator: AsyncIteratorProtocol {
    fileprivate var iterator: AsyncStream<Inbound>.AsyncIterator

    package mutating func next(isolation actor: isolated (any Actor)? = #isolation) async throws -> Inbound? {
      await iterator.next(isolation: actor)
    }
  }
}

/// Writes to a connection.
package struct NIOAsyncChannelOutboundWriter<OutboundOut: Sendable>: Sendable {
  fileprivate let writer: Writer<OutboundOut>

  package func write(_ data: OutboundOut) async throws {
    guard writer.channel.isActive, !writer.isFinished.withLock({ $0 }) else { throw ChannelError.ioOnClosedChannel }
    writer.write(data)
  }

  /// Finishes the writer; nothing can be written afterwards.
  package func finish() { writer.isFinished.withLock { $0 = true } }
}

package enum ChannelError: Error {
  case ioOnClosedChannel
}

/// All copies of an outbound writer refer to one, whose end traps if it was not finished.
private final class Writer<OutboundOut: Sendable>: Sendable {
  let channel: any Channel
  let write: @Sendable (OutboundOut) -> Void
  let isFinished = Guarded(false)

  init(_ channel: any Channel, _ write: @escaping @Sendable (OutboundOut) -> Void) {
    (self.channel, self.write) = (channel, write)
  }

  deinit {
    // A channel that the peer has closed finishes its writer.
    if !isFinished.withLock({ $0 }), channel.isActive {
      preconditionFailure("Deinited NIOAsyncWriter without calling finish()")
    }
  }
}
