// SPDX-License-Identifier: Apache-2.0
package org.ddstore;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.nio.DoubleBuffer;
import java.nio.FloatBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import java.util.function.DoublePredicate;
import java.util.function.LongPredicate;
import java.util.function.Supplier;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.ddstore.checkpoint.CheckpointBody;
import org.ddstore.checkpoint.CheckpointOptions;
import org.ddstore.checkpoint.CheckpointStorage;
import org.ddstore.checkpoint.Checkpoints;
import org.ddstore.checkpoint.Saving;
import org.ddstore.checkpoint.StreamReader;
import org.ddstore.checkpoint.StreamWriter;
import org.ddstore.collective.Communicator;
import org.ddstore.collective.LocalGroup;
import org.ddstore.collective.ReduceOp;
import org.ddstore.contract.NullArguments;
import org.ddstore.loader.Columns;
import org.ddstore.loader.LoadedBatch;
import org.ddstore.loader.Loader;
import org.ddstore.loader.LoaderOptions;
import org.ddstore.memory.HostMemory;
import org.ddstore.sampling.BatchSampler;
import org.ddstore.sampling.Batching;
import org.ddstore.sampling.ClassBalancedSampler;
import org.ddstore.sampling.CostAwareSampler;
import org.ddstore.sampling.Coverage;
import org.ddstore.sampling.CoverageReceipt;
import org.ddstore.sampling.Delivery;
import org.ddstore.sampling.EpochState;
import org.ddstore.sampling.RowSubset;
import org.ddstore.sampling.SampleOrder;
import org.ddstore.sampling.Sampler;
import org.ddstore.sampling.Samplers;
import org.ddstore.sampling.WorldRank;
import org.ddstore.transport.Transport;
import org.ddstore.types.Backing;
import org.ddstore.types.DType;
import org.ddstore.types.Field;
import org.ddstore.types.ProcessAddress;
import org.ddstore.types.ReadPath;
import org.ddstore.types.Schema;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** An argument that is null by mistake is named, in all types that users touch. */
class NullArgumentsTest {
  private static final StoreOptions OPTIONS = StoreOptions.defaults().backing(Backing.DIRECT);
  private static final Field FIELD = Field.fixed("x", DType.INT64, 2);

  private static NullArguments arguments() {
    return new NullArguments()
        .sample(String.class, "x")
        .sample(List.class, List.of())
        .sample(Duration.class, Duration.ofSeconds(1))
        .sample(Path.class, Path.of("x"))
        .sample(ByteBuffer.class, ByteBuffer.allocate(64))
        .sample(FloatBuffer.class, ByteBuffer.allocateDirect(64).asFloatBuffer())
        .sample(DoubleBuffer.class, ByteBuffer.allocateDirect(64).asDoubleBuffer())
        .sample(Tensor.class, Tensor.wrap(new long[2], 1, 2))
        .sample(Schema.class, Schema.of(FIELD))
        .sample(Field.class, FIELD)
        .sample(StoreOptions.class, OPTIONS)
        .sample(ReaderOptions.class, ReaderOptions.defaults())
        .sample(LoaderOptions.class, LoaderOptions.defaults())
        .sample(HostMemory.class, HostMemory.plain("a test"))
        .sample(Consumer.class, value -> {})
        .sample(Iterator.class, List.of().iterator())
        .sample(Sampler.class, Samplers.sequential())
        .sample(BatchSampler.class, Samplers.sequential().batchSize(1))
        .sample(WorldRank.class, new WorldRank(0, 1))
        .sample(Delivery.class, Delivery.PLAIN)
        .sample(Delivery.Choice.class, Delivery.PLAIN.fields())
        .sample(ReduceOp.class, ReduceOp.SUM);
  }

  @Test
  void valuesNameTheirNullArguments() {
    EpochState state = new EpochState(0, 0, 1, 0, "sequential", "1f3a9c04", "", Delivery.PLAIN);
    arguments()
        .sample(Object.class, "owner")
        .sample(Lease.class, new Lease("owner"))
        .sample(ReadStatistics.class, ReadStatistics.none(ReadPath.REMOTE))
        .sample(EpochState.class, state)
        .callStatic(DType.class, Lease.class)
        .sample(byte[].class, new byte[64])
        .call(
            FIELD,
            Schema.of(FIELD),
            Tensor.wrap(new long[2], 1, 2),
            OPTIONS,
            ReaderOptions.defaults(),
            ReadStatistics.none(ReadPath.REMOTE),
            new ProcessAddress("x", 1, 1))
        .check();
  }

  @Test
  void samplersNameTheirNullArguments() {
    arguments()
        .sample(EpochState.class, new EpochState(0, 0, 1, 0, "s", "c", "", Delivery.PLAIN))
        .sample(Sampler.Epoch.class, Sampler.Epoch.of(2, 0))
        .sample(long[].class, new long[2])
        .sample(int[].class, new int[1])
        .sample(double[].class, new double[] {1})
        .sample(boolean[].class, new boolean[] {true})
        .sample(LongPredicate.class, row -> true)
        .sample(RowSubset.class, RowSubset.range(0, 1))
        .callStatic(RowSubset.class)
        .call(RowSubset.range(0, 1))
        .callStatic(Samplers.class, Sampler.Epoch.class, CoverageReceipt.class, Delivery.class)
        .call(new EpochState(0, 0, 1, 0, "s", "c", "", Delivery.PLAIN), new WorldRank(0, 1))
        .callStatic(SampleOrder.class)
        .sample(SampleOrder.class, SampleOrder.of(0, 1))
        .call(new Coverage(2, 0))
        .call(Batching.class, Samplers.sequential().batchSize(1))
        .call(ClassBalancedSampler.class, Samplers.classBalanced(1, 0, 0))
        .call(CostAwareSampler.class, Samplers.costAware(1, 1, 1, 1))
        .check();
  }

  @Test
  void checkpointsNameTheirNullArguments(@TempDir Path folder) {
    EpochState state = new EpochState(0, 0, 1, 0, "s", "c", "", Delivery.PLAIN);
    CheckpointStorage storage = CheckpointStorage.local(folder);
    CheckpointOptions options = CheckpointOptions.defaults().saving(Saving.SYNCHRONOUS);
    try (Communicator alone = LocalGroup.create(1, Duration.ofSeconds(10)).get(0);
        Checkpoints checkpoints = Checkpoints.open(storage, alone, options)) {
      checkpoints.save(state, "model", out -> out.write(1));
      arguments()
          .sample(Communicator.class, alone)
          .sample(CheckpointStorage.class, storage)
          .sample(CheckpointOptions.class, options)
          .sample(EpochState.class, state)
          .sample(StreamWriter.class, out -> {})
          .sample(StreamReader.class, in -> {})
          .sample(CheckpointBody.class, to -> {})
          .callStatic(CheckpointStorage.class)
          .call(CheckpointOptions.defaults(), checkpoints, checkpoints.latest().orElseThrow())
          .check();
    }
  }

  private static void assertNamed(String argument, ThrowingCallable call) {
    assertThatThrownBy(call)
        .isInstanceOf(NullPointerException.class)
        .hasMessageStartingWith(argument);
  }

  @Test
  void storesNameTheirNullArguments() {
    try (Communicator alone = LocalGroup.create(1, Duration.ofSeconds(10)).get(0);
        DDStore store = DDStore.open(alone, OPTIONS);
        ShardWriter writer = ShardWriter.create(Schema.of(FIELD), OPTIONS)) {
      Variable x = store.add("x", Tensor.wrap(new long[4], 2, 2));
      try (Reader reader = x.reader();
          Batch batch = reader.getBatch(0);
          AttachedStore attached = AttachedStore.open(store.catalog(), OPTIONS);
          Loader loader =
              Loader.open(
                  x,
                  Samplers.sequential().batchSize(1),
                  new WorldRank(0, 1),
                  LoaderOptions.defaults());
          LoadedBatch loaded = loader.epoch(0).next()) {
        arguments()
            .sample(Communicator.class, alone)
            .sample(Variable.class, x)
            .sample(Batch.class, batch)
            .sample(Catalog.class, store.catalog())
            .sample(ShardWriter.class, writer)
            .sample(EpochState.class, loader.state())
            .sample(byte[].class, store.catalog().toBytes())
            .sample(Callable.class, () -> new byte[0])
            .sample(Supplier.class, () -> new WorldRank(0, 1))
            .sample(Throwable.class, new IllegalStateException("a test"))
            .sample(Transport.class, null)
            .allow(
                "DDStore.open(transport)",
                "AttachedStore.open(transport)",
                "Shard.seal(exportBy)",
                "Communicator.broadcast(bytes)")
            .allow("DDStore.addReadOnly(shard)") // as the next
            .allow("DDStore.add(shard)", "DDStore.init(dtype)", "DDStore.init(rowShape)") // below
            .call(reader, batch, x, store.catalog(), loaded, LoaderOptions.defaults())
            .call(DDStore.class, store)
            .call(AttachedStore.class, attached)
            .call(ShardWriter.class, writer)
            .callStatic(Shard.class)
            .call(Loader.class, loader)
            .callStatic(Columns.class)
            .call(Communicator.class, alone)
            .check();
        assertNamed("shard", () -> store.add("y", (ShardWriter) null));
        assertNamed("shard", () -> store.addReadOnly("y", null, "a test"));
        assertNamed("dtype", () -> store.init("y", 1, null));
        Columns columns = Columns.of(x, alone);
        assertNamed("field", () -> columns.weights(null));
        assertNamed("field", () -> columns.costs(null));
        assertNamed("field", () -> columns.lengths(null));
        assertNamed("field", () -> columns.classes(null));
        assertNamed("field", () -> columns.where(null));
        assertNamed("field", () -> columns.where(null, 1));
        assertNamed("field", () -> columns.where(null, "a"));
        assertNamed("field", () -> columns.whereNot(null));
        assertNamed("value", () -> columns.where("x", (String) null));
        assertNamed("condition", () -> columns.where("x", (DoublePredicate) null));
        assertNamed("rowShape", () -> store.init("y", 1, DType.INT8, (int[]) null));
      }
    }
  }
}
