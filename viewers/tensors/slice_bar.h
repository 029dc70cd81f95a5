// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "viewers/tensors/slice_spec.h"

#include <QWidget>

class QComboBox;
class QHBoxLayout;
class QLabel;
class QLineEdit;

namespace tapescope::viewers {

/// Chooses what part of a tensor is shown: which axes run along rows and columns, an index for each
/// other one, or NumPy text.
class SliceBar final : public QWidget {
    Q_OBJECT
public:
    explicit SliceBar(QWidget* parent = nullptr);
    void setSlice(const SliceSpec& slice);
    const SliceSpec& slice() const { return m_slice; }
    /// False: the text does not fit; the bar says why and keeps the slice.
    bool applyText(const QString& text);

signals:
    void changed();

private:
    void rebuild();
    void axisChosen(bool rows, int axis);
    void showText();

    SliceSpec m_slice;
    QHBoxLayout* m_controls = nullptr;
    QLineEdit* m_text = nullptr;
    QLabel* m_error = nullptr;
};

}  // namespace tapescope::viewers
