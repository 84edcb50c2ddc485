// SPDX-License-Identifier: Apache-2.0
/**
 * Arrays and groups of zarr, versions 2 and 3: the format {@code zarr}, and a reader of nodes for
 * formats that lie in zarr.
 */
@Internal
package org.ddstore.formats.zarr;

import org.ddstore.types.Internal;
