# mypy: ignore-errors
"""Inner products of sparse rows, written into a dense block.

    out[i, j] = sum_f  A[start + i, f] B[j, f]

Each entry of a row of A visits the list of rows of B that have the feature f. The work is the
number of products that are not 0, whatever the number of features.
"""

from linnaeus.compiled import loop


@loop
def sparse_block(start, indptr, indices, data, feature_ptr, feature_rows, feature_data, out):
    """Add the products to `out`, (n_rows, n_columns); of B the first n_columns rows.

    indptr, indices, data : A by rows (CSR)
    feature_ptr, feature_rows, feature_data : B by features (CSC), rows ascending
    """
    n_columns = out.shape[1]
    for i in range(out.shape[0]):
        for k in range(indptr[start + i], indptr[start + i + 1]):
            f, a = indices[k], data[k]
            for m in range(feature_ptr[f], feature_ptr[f + 1]):
                j = feature_rows[m]
                if j >= n_columns:
                    break
                out[i, j] += a * feature_data[m]
