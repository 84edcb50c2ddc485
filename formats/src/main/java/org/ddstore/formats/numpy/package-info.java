// SPDX-License-Identifier: Apache-2.0
/** Arrays of NumPy: the formats {@code npy} and {@code npz}. */
@Internal
package org.ddstore.formats.numpy;

import org.ddstore.types.Internal;
