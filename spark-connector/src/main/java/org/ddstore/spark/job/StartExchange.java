// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.job;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.spark.BarrierTaskContext;
import org.apache.spark.SparkContext;
import org.apache.spark.SparkEnv;
import org.apache.spark.broadcast.Broadcast;
import org.apache.spark.rpc.AbortableRpcFuture;
import org.apache.spark.rpc.RpcCallContext;
import org.apache.spark.rpc.RpcEndpointRef;
import org.apache.spark.rpc.RpcEnv;
import org.apache.spark.rpc.RpcTimeout;
import org.apache.spark.rpc.ThreadSafeRpcEndpoint;
import org.apache.spark.util.RpcUtils;
import org.ddstore.spark.wire.connection.StoreToken;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import scala.PartialFunction;
import scala.concurrent.Await;
import scala.concurrent.Future;
import scala.concurrent.duration.Duration;
import scala.concurrent.duration.FiniteDuration;
import scala.reflect.ClassTag;
import scala.reflect.ClassTag$;
import scala.runtime.AbstractPartialFunction;
import scala.runtime.BoxedUnit;

/**
 * The exchange of the start messages of all ranks of one attempt: an endpoint of the driver that
 * collects them and answers all ranks when the last one has arrived.
 *
 * <p>{@link BarrierTaskContext#allGather} would do the same, but its answer is an array of strings
 * that the driver serializes anew for each rank: 64 s of processor time and 37 GB for 16,384 ranks,
 * growing with the square of their number ({@code bench scale}). Here all messages are one array of
 * bytes. A long one is broadcast: the driver sends it once, executors copy it from each other, and
 * each holds it once. Nor does a rank poll for the answer once a second.
 *
 * <p>Messages between driver and ranks consist of classes of the JDK and of Spark, because Spark
 * may deserialize them without the class loader of this jar.
 */
public final class StartExchange implements ThreadSafeRpcEndpoint, AutoCloseable {
  /** Largest size of the messages of all ranks in an answer; longer ones are broadcast. */
  public static final int MAX_ANSWER_BYTES = 64 << 10;

  private static final ClassTag<byte[]> BYTES = ClassTag$.MODULE$.apply(byte[].class);
  private static final ClassTag<Object> OBJECT = ClassTag$.MODULE$.apply(Object.class);

  /** A rank waits as long as the others load; the end of the attempt interrupts it. */
  private static final RpcTimeout NO_TIMEOUT =
      new RpcTimeout(new FiniteDuration(365, TimeUnit.DAYS), "start of the ranks");

  private static final Duration BETWEEN_CHECKS = new FiniteDuration(1, TimeUnit.SECONDS);

  private static final Logger LOG = LoggerFactory.getLogger(StartExchange.class);

  private final SparkContext context;
  private final RpcEnv env = SparkEnv.get().rpcEnv();
  private final RpcEndpointRef self;
  private final byte[][] messages;
  private final RpcCallContext[] callers;
  private int arrived;
  private volatile Broadcast<byte[]> broadcast;

  private StartExchange(SparkContext context, String name, int ranks) {
    this.context = context;
    this.messages = new byte[ranks][];
    this.callers = new RpcCallContext[ranks];
    this.self = env.setupEndpoint(name, this);
  }

  /**
   * Opens the exchange of one attempt in the driver.
   *
   * @param token token of the attempt, which names the endpoint
   * @return the exchange, which the caller closes after the attempt
   */
  public static StartExchange open(SparkContext context, StoreToken token, int ranks) {
    return new StartExchange(context, name(token), ranks);
  }

  private static String name(StoreToken token) {
    return "ddstore-start-" + token.id();
  }

  /**
   * Sends the message of the calling barrier task to all ranks of the attempt and returns those of
   * all, in rank order. Collective; blocks until all ranks have called it or the task is killed.
   *
   * @param token token of the attempt
   */
  static List<byte[]> allGather(BarrierTaskContext task, StoreToken token, byte[] message)
      throws InterruptedException {
    SparkEnv env = SparkEnv.get();
    RpcEndpointRef driver = RpcUtils.makeDriverRef(name(token), env.conf(), env.rpcEnv());
    AbortableRpcFuture<Object> call =
        driver.askAbortable(question(task.partitionId(), message), NO_TIMEOUT, OBJECT);
    try {
      while (!isReady(call.future())) {
        task.killTaskIfInterrupted();
      }
    } catch (InterruptedException | RuntimeException | Error e) {
      call.abort(e);
      throw e;
    }
    return unpack(call.future().value().get().get());
  }

  private static boolean isReady(Future<Object> answer) throws InterruptedException {
    try {
      Await.ready(answer, BETWEEN_CHECKS);
      return true;
    } catch (TimeoutException e) {
      return false;
    }
  }

  /** Returns what a rank sends to the driver: its number and its message. */
  public static Object question(int rank, byte[] message) {
    return new Object[] {rank, message};
  }

  @Override
  public RpcEnv rpcEnv() {
    return env;
  }

  @Override
  public PartialFunction<Object, BoxedUnit> receiveAndReply(RpcCallContext caller) {
    return new AbstractPartialFunction<>() {
      @Override
      public boolean isDefinedAt(Object question) {
        return question instanceof Object[];
      }

      @Override
      public <Q, R> R applyOrElse(Q question, scala.Function1<Q, R> other) {
        if (!isDefinedAt(question)) {
          return other.apply(question);
        }
        Object[] parts = (Object[]) question;
        receive((Integer) parts[0], (byte[]) parts[1], caller);
        @SuppressWarnings("unchecked") // the type of a partial function to BoxedUnit
        R unit = (R) BoxedUnit.UNIT;
        return unit;
      }
    };
  }

  private void receive(int rank, byte[] message, RpcCallContext caller) {
    arrived += messages[rank] == null ? 1 : 0;
    messages[rank] = message;
    callers[rank] = caller;
    if (arrived < messages.length) {
      return;
    }
    byte[] all = pack(messages);
    if (all.length <= MAX_ANSWER_BYTES) {
      answer(all);
    } else { // a broadcast calls other endpoints, which may need this thread
      Thread thread = new Thread(() -> broadcast(all), self.name());
      thread.setDaemon(true);
      thread.start();
    }
  }

  private void broadcast(byte[] all) {
    try {
      broadcast = context.broadcast(all, BYTES);
      answer(broadcast);
    } catch (Throwable e) { // Scala throws checked exceptions; ranks must not wait for an answer
      LOG.warn("cannot send the start messages of {}", this, e);
      for (RpcCallContext caller : callers) {
        caller.sendFailure(e);
      }
    }
  }

  private void answer(Object answer) {
    for (RpcCallContext caller : callers) {
      caller.reply(answer);
    }
  }

  /** Joins the messages of all ranks: for each an int32 with its length, then its bytes. */
  public static byte[] pack(byte[]... messages) {
    int bytes = 0;
    for (byte[] message : messages) {
      bytes = Math.addExact(bytes, Integer.BYTES + message.length);
    }
    ByteBuffer all = ByteBuffer.allocate(bytes);
    for (byte[] message : messages) {
      all.putInt(message.length).put(message);
    }
    return all.array();
  }

  private static List<byte[]> unpack(Object answer) {
    byte[] all = (byte[]) (answer instanceof Broadcast<?> shared ? shared.value() : answer);
    return unpack(all);
  }

  /**
   * Returns the messages that {@link #pack} has joined.
   *
   * @throws IllegalArgumentException if they are truncated
   */
  public static List<byte[]> unpack(byte[] all) {
    List<byte[]> messages = new ArrayList<>();
    ByteBuffer in = ByteBuffer.wrap(all);
    while (in.hasRemaining()) {
      int length = in.remaining() < Integer.BYTES ? -1 : in.getInt();
      if (length < 0 || length > in.remaining()) {
        throw new IllegalArgumentException(
            "start messages of %,d bytes are truncated".formatted(all.length));
      }
      byte[] message = new byte[length];
      in.get(message);
      messages.add(message);
    }
    return messages;
  }

  /** Ends the exchange. Ranks that still wait for it are those of a failed attempt. */
  @Override
  public void close() {
    env.stop(self);
    if (broadcast != null && !context.isStopped()) {
      try {
        broadcast.destroy();
      } catch (RuntimeException e) { // the attempt has its results
        LOG.warn("cannot remove the start messages of {}", this, e);
      }
    }
  }

  @Override
  public String toString() {
    return "StartExchange[%d of %d ranks]".formatted(arrived, messages.length);
  }
}
