// SPDX-License-Identifier: Apache-2.0
package org.ddstore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.ddstore.types.DType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class TensorTest {
  @Test
  void wrapsArraysAsLittleEndianViews() {
    int[] values = {1, 0x01020304};
    Tensor tensor = Tensor.wrap(values);
    assertThat(tensor.shape()).containsExactly(2);
    assertThat(tensor.toByteArray()).containsExactly(1, 0, 0, 0, 4, 3, 2, 1);
    values[0] = 2;
    assertThat(tensor.getLong(0)).isEqualTo(2);
    assertThat(tensor.toIntArray()).containsExactly(2, 0x01020304);
    assertThat(tensor).hasToString("int32[2]");
  }

  @Test
  void integersKeepTheirSign() {
    byte[] bytes = {-1, 2};
    assertThat(Tensor.wrap(DType.INT8, bytes).getLong(0)).isEqualTo(-1);
    assertThat(Tensor.wrap(DType.UINT8, bytes).getLong(0)).isEqualTo(255);
    assertThat(Tensor.wrap(new boolean[] {true}).getLong(0)).isEqualTo(1);
    assertThat(Tensor.wrap(DType.INT16, new short[] {-3}).getLong(0)).isEqualTo(-3);
    assertThat(Tensor.wrap(new long[] {Long.MIN_VALUE}).getLong(0)).isEqualTo(Long.MIN_VALUE);
    assertThat(Tensor.wrap(new float[] {1.5f}).getFloat(0)).isEqualTo(1.5f);
    assertThat(Tensor.wrap(new double[] {-2.5}).getDouble(0)).isEqualTo(-2.5);
  }

  @Test
  void readsBufferElementsAsLittleEndian() {
    ByteBuffer buffer = ByteBuffer.allocate(24).order(ByteOrder.BIG_ENDIAN);
    Tensor tensor = Tensor.wrap(DType.FLOAT64, buffer, 3);
    buffer.order(ByteOrder.LITTLE_ENDIAN).putDouble(8, Math.PI);
    assertThat(tensor.getDouble(1)).isEqualTo(Math.PI);
    assertThat(tensor.toDoubleArray()).containsExactly(0, Math.PI, 0);
    assertThat(tensor.asByteBuffer().order()).isEqualTo(ByteOrder.LITTLE_ENDIAN);
    assertThat(Tensor.wrap(DType.FLOAT64, buffer.asReadOnlyBuffer(), 3).isReadOnly()).isTrue();
  }

  @ParameterizedTest
  @EnumSource(DType.class)
  void anErrorOfTheTypeNamesAMethodThatReadsIt(DType dtype) throws ReflectiveOperationException {
    Tensor tensor = Tensor.wrap(dtype, ByteBuffer.allocate(8), 1);
    List<ThrowingCallable> calls =
        List.of(
            tensor::toFloatArray,
            tensor::toDoubleArray,
            tensor::toIntArray,
            tensor::toLongArray,
            tensor::toShortArray,
            () -> tensor.getFloat(0),
            () -> tensor.getDouble(0),
            () -> tensor.getLong(0));
    int refused = 0;
    for (ThrowingCallable call : calls) {
      Throwable failure = catchThrowable(call);
      if (failure != null) {
        Matcher remedy =
            Pattern.compile(
                    "the elements are %s, not \\w+: call (\\w+)\\((index)?\\).*".formatted(dtype))
                .matcher(failure.getMessage());
        assertThat(remedy.matches()).as(failure.getMessage()).isTrue();
        if (remedy.group(2) == null) {
          Tensor.class.getMethod(remedy.group(1)).invoke(tensor);
        } else {
          Tensor.class.getMethod(remedy.group(1), long.class).invoke(tensor, 0);
        }
        refused++;
      }
    }
    assertThat(refused).isBetween(5, 7);
  }

  @Test
  void doublesAreDeliveredAsFloatsByALoader() {
    assertThatThrownBy(Tensor.wrap(new double[1])::toFloatArray)
        .hasMessage(
            "the elements are float64, not float32: call toDoubleArray(), or read the field by a loader with LoaderOptions.cast(field, DType.FLOAT32)");
  }

  @Test
  void rejectsInvalidShapesTypesAndIndices() {
    assertThatThrownBy(() -> Tensor.wrap(new int[3], 2))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("shape [2] has 2 elements, but the array has 3");
    assertThatThrownBy(() -> Tensor.wrap(new int[3], -1, -3))
        .hasMessage("dimension -1 of shape [-1, -3] is negative");
    assertThatThrownBy(() -> Tensor.wrap(new int[0], Long.MAX_VALUE, 3))
        .isInstanceOf(ArithmeticException.class);
    assertThatThrownBy(() -> Tensor.wrap(DType.INT32, new short[1]))
        .hasMessage("element type int32 is not int16, float16 or bfloat16");
    assertThatThrownBy(() -> Tensor.wrap(DType.INT16, new byte[2]))
        .hasMessage("element type int16 is not int8, uint8 or bool");
    Tensor ints = Tensor.wrap(new int[3]);
    assertThatThrownBy(() -> ints.getLong(3)).isInstanceOf(IndexOutOfBoundsException.class);
    assertThatThrownBy(() -> ints.getLong(-1)).isInstanceOf(IndexOutOfBoundsException.class);
    assertThatThrownBy(ints::asByteBuffer)
        .isInstanceOf(UnsupportedOperationException.class)
        .hasMessageContaining("int[]");
  }
}
