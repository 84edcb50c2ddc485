// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks.scale;

import java.nio.ByteBuffer;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.DoubleAdder;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.IntStream;
import org.apache.spark.JobArtifactSet;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkContext;
import org.apache.spark.rpc.RpcAddress;
import org.apache.spark.rpc.RpcCallContext;
import org.apache.spark.scheduler.TaskDescription;
import org.apache.spark.serializer.JavaSerializer;
import org.apache.spark.serializer.SerializerInstance;
import org.apache.spark.storage.BlockManagerId;
import org.apache.spark.storage.BlockManagerMessages.BlockLocationsAndStatus;
import org.apache.spark.storage.BlockStatus;
import org.apache.spark.util.SerializableBuffer;
import org.ddstore.spark.job.StartExchange;
import org.ddstore.spark.wire.connection.StoreToken;
import org.ddstore.types.DDStoreException;
import scala.Option;
import scala.PartialFunction;
import scala.jdk.javaapi.CollectionConverters;
import scala.reflect.ClassTag;
import scala.reflect.ClassTag$;
import scala.runtime.BoxedUnit;

/**
 * The work of the driver in a start, by its own code and by Spark's: bytes that it sends and
 * receives, and its processor time. Where all ranks get the same kind of message, one is measured
 * and multiplied by their number.
 */
final class DriverStart {
  static final String LAUNCH = "driver: task launch";
  static final String QUESTIONS = "driver: start messages";
  static final String ANSWERS = "driver: answers";
  static final String CATALOG = "driver: broadcast of the messages";
  static final String LOCATIONS = "driver: block locations";
  static final String ALL_GATHER = "instead: allGather of Spark";

  private static final int SAMPLES = 5;
  private static final int PATIENCE_MINUTES = 10;
  private static final ClassTag<Object> OBJECT = ClassTag$.MODULE$.apply(Object.class);

  private final SparkContext context;
  private final SimulatedCluster cluster;
  private final Parts parts;
  private final SerializerInstance serializer =
      new JavaSerializer(new SparkConf(false)).newInstance(); // that of Spark's messages

  DriverStart(SparkContext context, SimulatedCluster cluster, Parts parts) {
    this.context = context;
    this.cluster = cluster;
    this.parts = parts;
  }

  /**
   * @param messages start messages of all ranks
   */
  void measure(byte[]... messages) throws Exception {
    launch();
    exchange(messages);
    locations();
    allGather(messages);
  }

  /** Measures the description of one barrier task, which names the executors of all tasks. */
  private void launch() throws Exception {
    Properties properties = new Properties();
    properties.setProperty("addresses", cluster.taskAddresses());
    TaskDescription task =
        new TaskDescription(
            0,
            0,
            "0",
            "task 0.0 in stage 0.0",
            0,
            0,
            JobArtifactSet.emptyJobArtifactSet(),
            properties,
            1,
            scala.collection.immutable.Map$.MODULE$.empty(),
            ByteBuffer.allocate(0));
    ByteBuffer[] sent = new ByteBuffer[1];
    double[] seconds =
        Parts.cpuSeconds(
            SAMPLES,
            () ->
                sent[0] =
                    serializer.serialize(
                        new SerializableBuffer(TaskDescription.encode(task)), OBJECT));
    add(LAUNCH, sent[0].remaining(), seconds, cluster.ranks());
  }

  /** Runs the exchange of the driver with the messages of all ranks. */
  private void exchange(byte[]... messages) throws Exception {
    ByteBuffer[] questions = new ByteBuffer[messages.length];
    long bytes = 0;
    for (int rank = 0; rank < messages.length; rank++) {
      questions[rank] = serializer.serialize(StartExchange.question(rank, messages[rank]), OBJECT);
      bytes += questions[rank].remaining();
    }
    Callers callers = new Callers(messages.length);
    try (StartExchange exchange =
        StartExchange.open(context, StoreToken.random(), messages.length)) {
      PartialFunction<Object, BoxedUnit> receiver = exchange.receiveAndReply(callers);
      double received =
          Parts.cpuSeconds(
              () -> {
                for (ByteBuffer question : questions) {
                  receiver.apply(serializer.deserialize(question, OBJECT));
                }
              });
      callers.await();
      boolean isHere = callers.first == Thread.currentThread();
      parts.add(QUESTIONS, Parts.SECONDS, received - (isHere ? callers.seconds.sum() : 0));
      parts.add(QUESTIONS, Parts.BYTES, (double) bytes);
      parts.add(ANSWERS, Parts.SECONDS, callers.seconds.sum());
      parts.add(ANSWERS, Parts.BYTES, callers.bytes.doubleValue());
    }
    byte[] all = StartExchange.pack(messages);
    boolean isBroadcast = all.length > StartExchange.MAX_ANSWER_BYTES;
    ClassTag<byte[]> type = ClassTag$.MODULE$.apply(byte[].class);
    parts.add(
        CATALOG,
        Parts.SECONDS,
        isBroadcast
            ? Parts.cpuSeconds(SAMPLES, () -> context.broadcast(all, type).destroy())
            : new double[] {0});
    parts.add(CATALOG, Parts.BYTES, isBroadcast ? all.length : 0);
  }

  /**
   * Measures the answer that names the executors that have a block of a broadcast: half of them on
   * average, while one after the other fetches it.
   */
  private void locations() throws Exception {
    BlockLocationsAndStatus answer =
        new BlockLocationsAndStatus(
            CollectionConverters.asScala(
                    IntStream.range(0, (cluster.processes() + 1) / 2)
                        .mapToObj(
                            process ->
                                new BlockManagerId(
                                    "" + process,
                                    cluster.process(process).host(),
                                    cluster.process(process).port(),
                                    Option.empty()))
                        .toList())
                .toSeq(),
            BlockStatus.empty(),
            Option.empty());
    ByteBuffer[] sent = new ByteBuffer[1];
    double[] seconds =
        Parts.cpuSeconds(SAMPLES, () -> sent[0] = serializer.serialize(answer, OBJECT));
    add(LOCATIONS, sent[0].remaining(), seconds, cluster.processes());
  }

  /** Measures what the exchange replaces: an answer of all messages as texts to each rank. */
  private void allGather(byte[]... messages) throws Exception {
    String[] answer = new String[messages.length];
    for (int rank = 0; rank < answer.length; rank++) {
      answer[rank] = java.util.Base64.getEncoder().encodeToString(messages[rank]);
    }
    ByteBuffer[] sent = new ByteBuffer[1];
    double[] seconds =
        Parts.cpuSeconds(SAMPLES, () -> sent[0] = serializer.serialize(answer, OBJECT));
    add(ALL_GATHER, sent[0].remaining(), seconds, cluster.ranks());
  }

  private void add(String part, long bytes, double[] seconds, int times) {
    parts.add(part, Parts.SECONDS, Parts.times(times, seconds));
    parts.add(part, Parts.BYTES, (double) bytes * times);
  }

  /** The callers of all ranks, whose answers are serialized as Spark serializes them. */
  private final class Callers implements RpcCallContext {
    private final CountDownLatch left;
    private final DoubleAdder seconds = new DoubleAdder();
    private final LongAdder bytes = new LongAdder();
    private volatile Thread first;
    private volatile Throwable failure;

    Callers(int ranks) {
      this.left = new CountDownLatch(ranks);
    }

    @Override
    public void reply(Object answer) {
      first = Thread.currentThread();
      try {
        seconds.add(
            Parts.cpuSeconds(() -> bytes.add(serializer.serialize(answer, OBJECT).remaining())));
      } catch (Exception e) {
        sendFailure(e);
      }
      left.countDown();
    }

    @Override
    public void sendFailure(Throwable e) {
      failure = e;
      left.countDown();
    }

    @Override
    public RpcAddress senderAddress() {
      return new RpcAddress("simulated", 1);
    }

    void await() throws InterruptedException {
      if (!left.await(PATIENCE_MINUTES, TimeUnit.MINUTES) || failure != null) {
        throw new DDStoreException(
            "the start exchange did not answer %d ranks".formatted(left.getCount()), failure);
      }
    }
  }
}
